// `{ by: approval, quorum, from }` verifies that as many distinct humans approved exactly this action (decisions §7), and that each is in
// one of the groups. The execution that it releases uses up the approvals found, in the same commit.
import { requestProblem } from '../../src/formats/artifacts/request-problem.ts'
import { seat } from '../../src/core/approval-requests/seats.ts'
import { approversBehind, isBehind, personOf, type Persons } from '../../src/formats/people/persons.ts'
import { Canonical, type Json } from '../../src/formats/json/canonical.ts'
import type { SignalVerifier } from '../../src/formats/schemas/policy.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { readMemberships, type Membership, type Memberships } from '../../src/store/tables/approver-groups.ts'
import { APPROVERS_IN_EFFECT } from '../../src/store/tables/approvers.ts'
import { approvalLock, readUsableApprovals, type UsableApproval } from '../../src/store/tables/approvals.ts'
import { scopeCovers } from '../../src/formats/artifacts/scope.ts'
import type { SignalCheck, SignalValue, StateVerifier } from './verifier.ts'

type Approval = Extract<SignalVerifier, { by: 'approval' }>

export const approval: StateVerifier<Approval> = {
  when: 'with the claim',
  locks: ({ accepted: { transaction } }) => [
    approvalLock({ capability: transaction.intent.action, target: transaction.intent.target }),
    APPROVERS_IN_EFFECT,
  ],

  async read(given, { sql, before, approvers, persons: inEffect }) {
    const persons = inEffect.current()
    const initiators = initiatorsOf(given)
    const notCounted = approversBehind(persons, initiators)
    const none = { value: false, evidence: { notCounted } }
    // Declared false: it claims no approval, so it uses none up.
    if (given.declared === false) return none
    const { intent } = given.accepted.transaction
    const others = otherSignals(given, before)
    const at = given.now.toISOString()
    const memberships = await readMemberships(sql, {
      groups: [given.verifier, ...others].flatMap(({ from = [] }) => from),
      at,
      isBehind: (approverId) => isBehind(persons, approverId, initiators),
    })
    const check = { ...given, persons, initiators, others, memberships }
    const usable = await readUsableApprovals(sql, {
      capability: intent.action,
      target: intent.target,
      parametersHash: sha256Hex(given.accepted.canonical.parameters.text),
      at,
      notBy: notCounted,
    })
    // A person stands for one signal of an execution.
    const used = new Set(
      [...before.values()].flatMap(({ consumes = [] }) =>
        consumes.map(({ approverId }) => personOf(persons, approverId)),
      ),
    )
    const chosen = choose(
      usable.filter(({ approver }) => !used.has(personOf(persons, approver.approverId))),
      check,
    )
    if (chosen === undefined) return none
    const groups = groupsOf(chosen.approvals, check)
    for (const { approver } of chosen.approvals) approvers.learn(approver)
    return {
      value: true,
      evidence: {
        approvals: chosen.approvals.map(({ body }) => new Canonical(body)),
        ...(groups === undefined ? {} : { groups }),
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

/** A check, with the data by which its approvals are counted. */
interface ApprovalCheck extends SignalCheck<Approval> {
  readonly persons: Persons
  /** The verifiers of the signals that may have to be met after this one. */
  readonly others: readonly Approval[]
  readonly memberships: Memberships
  /** Its callerId and its principalId: no approval of the persons behind them counts. */
  readonly initiators: readonly string[]
}

function initiatorsOf({ accepted }: SignalCheck<Approval>): string[] {
  return [accepted.request.caller.callerId, accepted.transaction.authority.principalId]
}

/** A signal that is declared false claims no approval. */
function otherSignals(
  { signal: own, version, accepted }: SignalCheck<Approval>,
  before: ReadonlyMap<string, SignalValue>,
): Approval[] {
  const { signals } = accepted.transaction
  return version.policy.verify.flatMap(({ signal, ...verifier }) => {
    const isLater = signal !== own && !before.has(signal) && signals[signal] !== false
    return verifier.by === 'approval' && isLater ? [verifier] : []
  })
}

/** The membership by which each approval counts; undefined where every approver's counts. */
function groupsOf(
  approvals: readonly UsableApproval[],
  { verifier: { from }, memberships }: ApprovalCheck,
): Membership[] | undefined {
  return from && approvals.map(({ approver }) => memberships(from, approver.approverId)!)
}

interface Chosen {
  readonly approvals: readonly UsableApproval[]
  /** The request that approvals from version 2 on are for: all for the same one. */
  readonly request?: UsableApproval['request'] & object
}

/**
 * Tries one open request after the other, each with the approvals that are for no request, and these alone at last: approvals of two
 * requests make no quorum together.
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
    const approvals = countedOf([...some, ...forNone], check)
    if (approvals.length === quorum && approvals.some((row) => row.request !== null))
      return { approvals, request }
  }
  const approvals = countedOf(forNone, check)
  return approvals.length === quorum ? { approvals } : undefined
}

/**
 * One approval of each person, as many as the quorum asks for; never of a person behind the execution. People who count for other signals
 * too are left to those where others are enough here.
 */
function countedOf(
  usable: readonly UsableApproval[],
  { persons, initiators, memberships, verifier, others }: ApprovalCheck,
): UsableApproval[] {
  const counts = ({ approver: { approverId } }: UsableApproval, { from }: Approval) =>
    from === undefined || memberships(from, approverId) !== undefined
  const able = usable.filter(({ approver }) => !isBehind(persons, approver.approverId, initiators))
  // If one person has several approvals, the first that counts for the signal is taken.
  const people = [...Map.groupBy(able, ({ approver }) => personOf(persons, approver.approverId)).values()]
  const [own = []] = seat(
    [verifier, ...others].map((one) => ({
      quorum: one.quorum,
      takes: (approvals: readonly UsableApproval[]) => approvals.some((row) => counts(row, one)),
    })),
    people,
  )
  return own.map((approvals) => approvals.find((row) => counts(row, verifier))!)
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
