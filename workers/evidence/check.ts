// POST /refusal/verify and POST /audit/verify (decisions §9): anyone may have evidence checked with the keys that are published.
import { isObject, parseBody } from '../../src/body.ts'
import type { Json } from '../../src/canonical.ts'
import { Failure, failures } from '../../src/errors.ts'
import { checkAuditEvent } from '../../src/verifier/audit-event.ts'
import type { Check, Crypto } from '../../src/verifier/evidence.ts'
import { checkRefusalRecord } from '../../src/verifier/refusal-record.ts'
import type { Thread } from '../execute/index.ts'
import { arriveWithText, forward, type Answered, type Travelling } from '../execute/road.ts'

export function verifyRefusals(batch: readonly Travelling[], { crypto }: Thread): Answered[] {
  return answered(batch, crypto, checkRefusalRecord)
}

export function verifyAuditEvents(batch: readonly Travelling[], { crypto }: Thread): Answered[] {
  return answered(batch, crypto, checkAuditEvent)
}

/**
 * A verdict for every body that is a JSON object: what a removed member breaks is a check that fails, not a body that is refused.
 * Anybody may ask: each check walks the body once, and stops at the first signature that does not hold.
 */
function answered(
  batch: readonly Travelling[],
  crypto: Crypto,
  check: (evidence: Json, crypto: Crypto) => Check[],
): Answered[] {
  return arriveWithText(
    forward(batch, ({ request }) => {
      const evidence = parseBody(request.body)
      if (evidence instanceof Failure) return evidence
      if (!isObject(evidence)) return failures.invalidEvidence()
      return { request, text: JSON.stringify(verdict(check(evidence as Json, crypto))) }
    }),
  )
}

function verdict(checks: readonly Check[]) {
  return {
    valid: checks.every(({ problem }) => problem === undefined),
    checks: checks.map(({ name, problem }) => ({ name, valid: problem === undefined, problem })),
  }
}
