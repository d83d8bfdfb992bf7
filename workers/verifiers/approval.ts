// `{ by: approval, quorum }`: that as many distinct humans approved this very action (decisions §7). What it finds is used up by the
// execution that it releases, in the same commit.
import { requestProblem } from '../../src/formats/artifacts/request-problem.ts'
import { approversBehind, countedApprovers, type Persons } from '../../src/formats/people/persons.ts'
import { Canonical, type Json } from '../../src/formats/json/canonical.ts'
import type { SignalVerifier } from '../../src/formats/schemas/policy.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { APPROVERS_IN_EFFECT } from '../../src/store/tables/approvers.ts'
import { approvalLock, readUsableApprovals, type UsableApproval } from '../../src/store/tables/approvals.ts'
import { scopeCovers } from '../../src/formats/artifacts/scope.ts'
import type { SignalCheck, StateVerifier } from './verifier.ts'

type Approval = Extract<SignalVerifier, { by: 'approval' }>

export const approval: StateVerifier<Approval> = {
  when: 'with the claim',
  locks: ({ accepted: { transaction } }) => [
    approvalLock({ capability: transaction.intent.action, target: transaction.intent.target }),
    APPROVERS_IN_EFFECT,
  ],

  async read(given, { sql, taken, approvers, persons }) {
    const check = { ...given, persons: persons.current(), initiators: initiatorsOf(given) }
    const notCounted = approversBehind(check.persons, check.initiators)
    const none = { value: false, evidence: { notCounted } }
    // Declared false: it claims no approval, so it uses none up.
    if (check.declared === false) return none
    const { intent } = check.accepted.transaction
    const usable = await readUsableApprovals(sql, {
      capability: intent.action,
      target: intent.target,
      parametersHash: sha256Hex(check.accepted.canonical.parameters.text),
      at: check.now.toISOString(),
      notBy: notCounted,
    })
    const chosen = choose(
      usable.filter((row) => !taken.has(row.approvalId)),
      check,
    )
    if (chosen === undefined) return none
    for (const { approver } of chosen.approvals) approvers.learn(approver)
    return {
      value: true,
      evidence: {
        approvals: chosen.approvals.map(({ body }) => new Canonical(body)),
        notCounted,
        ...(chosen.request === undefined ? {} : { request: new Canonical(chosen.request.body) }),
      },
      consumes: chosen.approvals.map(({ approvalId, approver, request }) => ({
        approvalId,
        approverId: approver.approverId,
        ...(request === null ? {} : { requestHash: request.requestHash }),
      })),
    }
  },
}

/** A check, and who its approvals are counted by. */
interface ApprovalCheck extends SignalCheck<Approval> {
  readonly persons: Persons
  /** Its callerId and its principalId: no approval of the persons behind them counts. */
  readonly initiators: readonly string[]
}

function initiatorsOf({ accepted }: SignalCheck<Approval>): string[] {
  return [accepted.request.caller.callerId, accepted.transaction.authority.principalId]
}

interface Chosen {
  readonly approvals: readonly UsableApproval[]
  /** The request that approvals of version 2 are for: all for the same one. */
  readonly request?: UsableApproval['request'] & object
}

/**
 * Tries one open request after the other, each with the approvals that are for none, and these alone at last: approvals of two requests
 * make no quorum together.
 */
function choose(usable: readonly UsableApproval[], check: ApprovalCheck): Chosen | undefined {
  const { quorum } = check.verifier
  const forNone = usable.filter((row) => row.request === null && covers(row, check))
  const forRequests = Map.groupBy(
    usable.filter((row) => row.request !== null),
    (row) => row.request!.requestHash,
  )
  for (const some of forRequests.values()) {
    const request = some[0]!.request!
    if (!isRequested(request.body, check)) continue
    const approvals = firstOfEach([...some, ...forNone], check)
    if (approvals.length === quorum && approvals.some((row) => row.request !== null))
      return { approvals, request }
  }
  const approvals = firstOfEach(forNone, check)
  return approvals.length === quorum ? { approvals } : undefined
}

/** The first of each person, as many as the quorum asks for; never of one behind the execution. */
function firstOfEach(
  usable: readonly UsableApproval[],
  { persons, initiators, verifier }: ApprovalCheck,
): UsableApproval[] {
  const approverIds = usable.map(({ approver }) => approver.approverId)
  const counted = new Set(countedApprovers(persons, approverIds, initiators))
  // One approver has several approvals: the first counts.
  return usable.filter(({ approver }) => counted.delete(approver.approverId)).slice(0, verifier.quorum)
}

function covers({ body }: UsableApproval, { accepted }: SignalCheck<Approval>): boolean {
  const { payload } = JSON.parse(body) as { payload: { scope: Json } }
  return scopeCovers(payload.scope, accepted.transaction.intent.parameters as Json, sha256Hex)
}

/** Whether an open request asked for this execution. Its approvals were delivered for the action that it names. */
function isRequested(body: string, { accepted, decision, now }: SignalCheck<Approval>): boolean {
  const { authority, intent, policy, signals } = accepted.transaction
  const problem = requestProblem(JSON.parse(body) as Json, {
    capability: intent.action,
    target: intent.target,
    parameters: intent.parameters,
    signals,
    // The request's signals are the declared ones: filled-in signals are separate.
    verified: [],
    policy: { name: policy.name, version: policy.version, contentHash: decision.policyContentHash },
    principalId: authority.principalId,
    requestedBy: accepted.request.caller.callerId,
    evaluatedAt: now.toISOString(),
  })
  return problem === undefined
}
