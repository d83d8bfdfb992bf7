// POST /refusal/verify and POST /audit/verify (decisions §9): anyone may have evidence checked with the keys that are published.
import { parseBody } from '../../src/core/json/body.ts'
import { isObject } from '../../src/formats/json/fields.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import type { Check } from '../../src/formats/artifacts/evidence.ts'
import type { Members } from '../../src/formats/json/members.ts'
import { checkMembers } from '../../src/formats/artifacts/known-members.ts'
import type { Evidence } from '../../src/formats/artifacts/kind.ts'
import type { ThreadContext } from '../context.ts'
import { finishWithText, runStage, type Finished, type InFlight } from '../in-flight.ts'

/**
 * A verdict for every body that is a JSON object: a removed member makes a check fail, and does not get the body refused. Anybody may ask:
 * each check walks the body once, and stops at the first invalid signature. The verdict names a member that no signature covers: its reader
 * would think that the member is signed.
 */
export function checkEvidence(
  batch: readonly InFlight[],
  { crypto }: ThreadContext,
  { check, members }: Evidence,
): Finished[] {
  return finishWithText(
    runStage(batch, ({ request }) => {
      const evidence = parseBody(request.body)
      if (evidence instanceof Failure) return evidence
      if (!isObject(evidence)) return failures.invalidEvidence()
      const beside = checkMembers(evidence as Members, members)
      const checks = check(evidence as Members, crypto)
      const all = beside.problem === undefined ? checks : [...checks, beside]
      return { request, text: JSON.stringify(verdict(all)) }
    }),
  )
}

function verdict(checks: readonly Check[]) {
  return {
    valid: checks.every(({ problem }) => problem === undefined),
    checks: checks.map(({ name, problem }) => ({ name, valid: problem === undefined, problem })),
  }
}
