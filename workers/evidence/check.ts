// POST /refusal/verify and POST /audit/verify (decisions §9): anyone may have evidence checked with the keys that are published.
import type { TSchema } from 'typebox'
import { parseBody } from '../../src/body.ts'
import type { Json } from '../../src/canonical.ts'
import { Failure, failures } from '../../src/errors.ts'
import { AuditEventWithSignature } from '../../src/schemas/audit-event.ts'
import { RefusalRecord } from '../../src/schemas/refusal-record.ts'
import { shapeOf } from '../../src/shape.ts'
import { checkAuditEvent } from '../../src/verifier/audit-event.ts'
import { checkRefusalRecord } from '../../src/verifier/refusal-record.ts'
import type { Thread } from '../execute/index.ts'
import { arriveWithText, forward, type Answered, type Travelling } from '../execute/road.ts'

const isRefusalRecord = openShape(RefusalRecord)
const isAuditEvent = openShape(AuditEventWithSignature)

export function verifyRefusals(batch: readonly Travelling[], { crypto }: Thread): Answered[] {
  return answered(batch, isRefusalRecord, (evidence) => {
    const checks = checkRefusalRecord(evidence, crypto).map(({ name, problem }) => ({
      name,
      valid: problem === undefined,
      problem,
    }))
    return { valid: checks.every(({ valid }) => valid), checks }
  })
}

export function verifyAuditEvents(batch: readonly Travelling[], { crypto }: Thread): Answered[] {
  return answered(batch, isAuditEvent, (evidence) => ({
    valid: checkAuditEvent(evidence, crypto).every(({ problem }) => problem === undefined),
  }))
}

type Evidence = { readonly [name: string]: Json }

/** Each by itself: what one body holds is nothing to the others. */
function answered(
  batch: readonly Travelling[],
  read: (body: Uint8Array) => Evidence | Failure,
  verdict: (evidence: Evidence) => object,
): Answered[] {
  return arriveWithText(
    forward(batch, ({ request }) => {
      const evidence = read(request.body)
      return evidence instanceof Failure ? evidence : { request, text: JSON.stringify(verdict(evidence)) }
    }),
  )
}

/** The evidence of a body, or a 400 that names the first member that is not as it must be. */
function openShape(schema: TSchema): (body: Uint8Array) => Evidence | Failure {
  const shape = shapeOf(schema)
  return (bytes) => {
    const body = parseBody(bytes)
    if (body instanceof Failure) return body
    const shaped = shape(body)
    return 'problem' in shaped ? failures.invalidEvidence(shaped.problem) : (body as Evidence)
  }
}
