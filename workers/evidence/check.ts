// POST /refusal/verify and POST /audit/verify (decisions §9): anyone may have evidence checked with the keys that are published.
import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'
import { parseBody } from '../../src/body.ts'
import type { Json } from '../../src/canonical.ts'
import { Failure, failures } from '../../src/errors.ts'
import { AuditEventWithSignature } from '../../src/schemas/audit-event.ts'
import { RefusalRecord } from '../../src/schemas/refusal-record.ts'
import { checkAuditEvent } from '../../src/verifier/audit-event.ts'
import { checkRefusalRecord } from '../../src/verifier/refusal-record.ts'
import type { Thread } from '../execute/index.ts'
import { Answered, type Travelling } from '../execute/road.ts'

const isRefusalRecord = openShape(RefusalRecord)
const isAuditEvent = openShape(AuditEventWithSignature)

export function verifyRefusals(batch: readonly Travelling[], { crypto }: Thread): Answered[] {
  return batch.map(({ request }) => {
    const evidence = isRefusalRecord(request.body)
    if (evidence instanceof Failure) return new Answered(request, evidence)
    const checks = checkRefusalRecord(evidence, crypto).map(({ name, problem }) => ({
      name,
      valid: problem === undefined,
      problem,
    }))
    const valid = checks.every((check) => check.valid)
    return new Answered(request, { body: JSON.stringify({ valid, checks }) })
  })
}

export function verifyAuditEvents(batch: readonly Travelling[], { crypto }: Thread): Answered[] {
  return batch.map(({ request }) => {
    const evidence = isAuditEvent(request.body)
    if (evidence instanceof Failure) return new Answered(request, evidence)
    const valid = checkAuditEvent(evidence, crypto).every(({ problem }) => problem === undefined)
    return new Answered(request, { body: JSON.stringify({ valid }) })
  })
}

/** The evidence of a body, or a 400 that names the first member that is not as it must be. */
function openShape(schema: TSchema): (body: Uint8Array) => { readonly [name: string]: Json } | Failure {
  const shape = Compile(schema)
  return (bytes) => {
    const body = parseBody(bytes)
    if (body instanceof Failure) return body
    const [error] = shape.Errors(body)
    if (error === undefined) return body as { readonly [name: string]: Json }
    const missing = error.keyword === 'required' ? error.params.requiredProperties[0] : undefined
    const path = [
      ...error.instancePath.split('/').slice(1),
      ...(missing === undefined ? [] : [missing]),
    ].join('.')
    return failures.invalidEvidence(
      `${path || 'the body'} ${missing === undefined ? error.message : 'is required'}.`,
    )
  }
}
