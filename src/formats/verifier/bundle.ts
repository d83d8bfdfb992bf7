// The checks of a bundle: one execution with all evidence that it was permitted, and that the log contains it. Keys of approvers
// count if a governance change that the service signed enrolled them; the rest relies on the reader's own key set and log.
import { canonicalize, type Json } from '../json/canonical.ts'
import { entryOf } from '../artifacts/kinds.ts'
import type { VerifierKey } from '../log/note.ts'
import {
  readApprovedSignals,
  readExecution,
  type ApprovedSignal,
  type Execution,
} from './bundle-execution.ts'
import { checkProofs, type DueProofs, type LoggedPart } from './bundle-log.ts'
import {
  check,
  checkSigned,
  list,
  members,
  mustHold,
  string,
  type Check,
  type Crypto,
} from '../artifacts/evidence.ts'
import { instantMs } from '../artifacts/instant.ts'
import { isMembers, type Members } from '../json/members.ts'
import { lazy } from '../lazy.ts'
import {
  checkGovernanceChange,
  governanceChange,
  notesOnChange,
  signedMembersOf,
} from '../artifacts/governance-change.ts'
import {
  combinedKeys,
  isSameKey,
  NO_KEYS,
  readEnrolledKey,
  readKeySet,
  type KeySet,
  type VerifyingKey,
} from './keys.ts'
import type { LogTrust } from './log-trust.ts'
import { noteCrypto } from './note-crypto.ts'
import { Unusable } from './unusable.ts'
import { checkWholeRecord, notesOnRecord } from '../artifacts/whole-record.ts'

const VERSION = 'countersign/1'

interface BundleWith {
  /** The reader's own keys. */
  readonly keys: KeySet
  readonly log: LogTrust | undefined
  readonly cryptoBy: (keys: KeySet) => Crypto
  readonly onLogKeyUsed: (key: VerifierKey) => void
}

/**
 * @returns its checks, at least one, and further facts that a reader should know
 * @throws Unusable for a bundle of another version
 */
export function inspectBundle(
  bundle: Members,
  { keys, log, cryptoBy, onLogKeyUsed }: BundleWith,
): { checks: Check[]; notes: string[] } {
  if (bundle['bundle'] !== VERSION)
    throw new Unusable(
      `The bundle is of version ${JSON.stringify(bundle['bundle'])}; only '${VERSION}' is known.`,
    )
  const record = isMembers(bundle['record']) ? bundle['record'] : {}
  const crypto = cryptoBy(keys)
  const execution = lazy(() => readExecution(record, crypto))
  const carried = lazy(() => carriedKeys(bundle['approverKeys']))
  const changes = lazy(() =>
    list(bundle['changes']).map((change) =>
      readChange(members(change), execution(), { carried: readable(carried) ?? NO_KEYS, crypto }),
    ),
  )
  const changesCheck = checkSigned(
    'governance changes',
    'A governance change is not one that put the policy, or the key, group or stand-in of an approver into force',
    crypto,
    (checking) => {
      mustHold(list(bundle['changes']).flatMap((change) => checkGovernanceChange(change, checking)))
      const asked = groupsAskedFor(bundle['policy'], execution(), crypto.sha256Hex)
      return areInForce(changes()) && areMembers(readApprovedSignals(record), changes(), asked)
    },
  )
  let recordKeys = keys
  const keysCheck = check('approver keys', 'The keys of approvers are not those that were enrolled', () => {
    // A change without a proven signature of the service enrols no approver.
    if (changesCheck.problem === undefined)
      recordKeys = combinedKeys(keys, enrolledKeys(changes(), carried()))
    return areEnrolled(execution(), changes(), carried())
  })
  const proofs = checkProofs(bundle['proofs'], () => dueProofs(execution(), changes()), {
    trust: log,
    crypto: noteCrypto,
    onUsed: onLogKeyUsed,
  })
  return {
    checks: [
      ...checkWholeRecord(record, cryptoBy(recordKeys)),
      check('policy document', 'The policy document is not the one whose hash is signed', () => {
        return crypto.sha256Hex(string(bundle['policy'])) === execution().policy.contentHash
      }),
      changesCheck,
      keysCheck,
      ...proofs.checks,
    ],
    notes: [
      ...notesOnRecord(record, { promise: false }),
      ...notesOnAuthority(bundle['changes'], { execution, changes, crypto }),
      ...proofs.notes,
    ],
  }
}

/** Undefined when it is unreadable: then a check reports it. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** A governance change: the key that it enrolled, the group or stand-in that it set, or the policy put into force; none for any other change. */
interface Change {
  readonly part: LoggedPart
  readonly target: string
  readonly enrolled?: VerifyingKey
  /** The members of the group; times are RFC 3339. */
  readonly group?: { readonly members: readonly string[]; readonly resolvedAt: string }
  readonly standIn?: {
    readonly for: string
    readonly by: string
    readonly from: string
    readonly until: string
    readonly resolvedAt: string
  }
  readonly policy?: true
}

function readChange(
  change: Members,
  { policy, approvals, statedChanges }: Execution,
  { carried, crypto: { sha256Hex } }: { readonly carried: KeySet; readonly crypto: Crypto },
): Change {
  const { changeId, kind, target, status, proposed, resolvedAt } = change
  const named = string(target)
  const text = canonicalize(signedMembersOf(change))
  const read = {
    part: {
      kind: 'change' as const,
      id: string(changeId),
      entry: entryOf(governanceChange, text, sha256Hex),
    },
    target: named,
  }
  if (status !== 'APPROVED') return read
  if (kind === 'policy') {
    // The versions that end with the change stand beside the members of the document; no document has a member `retires`.
    const { retires: _, ...document } = members(proposed)
    const isThis =
      named === `${policy.name}/${policy.version}` && sha256Hex(canonicalize(document)) === policy.contentHash
    return isThis ? { ...read, policy: true } : read
  }
  if (kind === 'approver-group') {
    const { action, group, members: listed } = members(proposed)
    const isStated = statedChanges.some((one) => one.changeId === changeId && one.of === named)
    if (action !== 'set' || group !== named || !isStated) return read
    return { ...read, group: { members: list(listed).map(string), resolvedAt: string(resolvedAt) } }
  }
  if (kind === 'stand-in') {
    const { action, for: away, by, from, until } = members(proposed)
    const isStated = statedChanges.some((one) => one.changeId === changeId && one.of === away)
    if (action !== 'set' || named !== `${string(away)}/${string(from)}` || !isStated) return read
    const times = { from: string(from), until: string(until), resolvedAt: string(resolvedAt) }
    return { ...read, standIn: { for: string(away), by: string(by), ...times } }
  }
  const enrolled = isMembers(proposed) ? proposed : {}
  const { action, approverId, keyId } = enrolled
  const isOfApprover =
    kind === 'approver' &&
    action === 'add' &&
    named === `${string(approverId)}:${string(keyId)}` &&
    approvals.some((approval) => approval.keyId === named)
  if (!isOfApprover) return read
  return { ...read, enrolled: readEnrolledKey(named, enrolled, carried.get(named)) }
}

/** @throws Error for a change that put nothing of this execution into force, and for two changes of the same target */
function areInForce(changes: readonly Change[]): boolean {
  for (const [i, { part, target, policy, enrolled, group, standIn }] of changes.entries()) {
    const which = `change ${JSON.stringify(part.id)}`
    if ([policy, enrolled, group, standIn].every((one) => one === undefined))
      throw new Error(`${which} put nothing into force that was used here`)
    if (changes.findIndex((other) => other.target === target) < i)
      throw new Error(`${which} is the second one of ${JSON.stringify(target)}`)
  }
  return true
}

/**
 * The groups that the policy asks for, by signal; undefined for a document that is not the policy of the execution, which another check
 * reports.
 */
function groupsAskedFor(
  policy: Json | undefined,
  { policy: { contentHash } }: Execution,
  sha256Hex: Crypto['sha256Hex'],
): ReadonlyMap<string, readonly string[] | undefined> | undefined {
  if (typeof policy !== 'string' || sha256Hex(policy) !== contentHash) return undefined
  const { verify = {} } = members(JSON.parse(policy) as Json)
  return new Map(
    Object.entries(members(verify)).map(([signal, verifier]) => {
      const { from } = members(verifier)
      return [signal, from === undefined ? undefined : list(from).map(string)]
    }),
  )
}

/**
 * A bundle does not show that no later change of a group was in effect at that time: `countersign fsck` compares with every change.
 * @throws Error when an approver is not in the group that a decision states, as its change set it, or the policy asks for another group
 */
function areMembers(
  approvedSignals: readonly ApprovedSignal[],
  changes: readonly Change[],
  asked: ReadonlyMap<string, readonly string[] | undefined> | undefined,
): boolean {
  for (const { signal, evaluatedAt, approverIds, memberships } of approvedSignals) {
    const named = `signal ${JSON.stringify(signal)}`
    const from = asked?.get(signal)
    if (asked !== undefined && (from === undefined) !== (memberships === undefined))
      throw new Error(`${named} does not state the groups that the policy asks for`)
    for (const [i, { group, changeId, standIn }] of (memberships ?? []).entries()) {
      const whose = `${named}: ${JSON.stringify(approverIds[i])}`
      const at = instantMs(evaluatedAt)
      const set = changes.find(({ part, target }) => part.id === changeId && target === group)?.group
      if (from !== undefined && !from.includes(group))
        throw new Error(`${whose} is in ${JSON.stringify(group)}, which the policy does not ask for`)
      if (set === undefined)
        throw new Error(`${whose}: no governance change in it set the group ${JSON.stringify(group)}`)
      if (!set.members.includes(standIn?.for ?? approverIds[i]!))
        throw new Error(`${whose} is not in the group ${JSON.stringify(group)} as it was set`)
      if (!(instantMs(set.resolvedAt) <= at))
        throw new Error(`${whose}: the group ${JSON.stringify(group)} was set after the decision`)
      if (standIn === undefined) continue
      const put = changes.find(({ part }) => part.id === standIn.changeId)?.standIn
      if (put?.for !== standIn.for || put.by !== approverIds[i])
        throw new Error(
          `${whose}: no governance change in it has them stand in for ${JSON.stringify(standIn.for)}`,
        )
      const isThen = instantMs(put.from) <= at && at < instantMs(put.until) && instantMs(put.resolvedAt) <= at
      if (!isThen)
        throw new Error(`${whose} did not stand in for ${JSON.stringify(standIn.for)} at the decision`)
    }
  }
  return true
}

/** The keys in the bundle: they state later revocations, and must be the keys that the changes enrolled. */
function carriedKeys(given: Json | undefined): KeySet {
  const keys = list(given)
  return keys.length === 0 ? NO_KEYS : readKeySet(keys)
}

function enrolledKeys(changes: readonly Change[], carried: KeySet): KeySet {
  return new Map(
    changes.flatMap(({ target, enrolled }) =>
      enrolled === undefined
        ? []
        : [[target, { ...enrolled, revokedAt: carried.get(target)?.revokedAt ?? null }]],
    ),
  )
}

/** @throws Error when an approval's key is missing, was enrolled by no change, or differs from the enrolled key; and for a key without approvals */
function areEnrolled({ approvals }: Execution, changes: readonly Change[], carried: KeySet): boolean {
  const used = new Set(approvals.map(({ keyId }) => keyId))
  for (const keyId of used) {
    const named = JSON.stringify(keyId)
    const enrolled = changes.find((change) => change.target === keyId)?.enrolled
    const key = carried.get(keyId)
    if (enrolled === undefined) throw new Error(`no governance change in it enrolled the key ${named}`)
    if (key === undefined) throw new Error(`the key ${named} is not among them`)
    if (!isSameKey(key, enrolled)) throw new Error(`the key ${named} is another one than was enrolled`)
  }
  for (const keyId of carried.keys())
    if (!used.has(keyId)) throw new Error(`nothing is approved by the key ${JSON.stringify(keyId)}`)
  return true
}

/** Authority precedes the acts that it permits, and an approver's key and the request precede the approval. */
function dueProofs(
  { authorization, requests, approvals, receipt, confirmations }: Execution,
  changes: readonly Change[],
): DueProofs {
  const order = changes.flatMap(({ part, target, policy, group, standIn }): [LoggedPart, LoggedPart][] =>
    policy === true || group !== undefined || standIn !== undefined
      ? [[part, authorization]]
      : approvals.filter(({ keyId }) => keyId === target).map((approval) => [part, approval.part]),
  )
  for (const request of requests) {
    const ofRequest = approvals.filter(({ requestHash }) => requestHash === request.entry.hash)
    order.push(...ofRequest.map(({ part }): [LoggedPart, LoggedPart] => [request, part]))
    order.push([request, authorization])
  }
  for (const approval of approvals) order.push([approval.part, authorization])
  if (receipt !== undefined) order.push([authorization, receipt.part])
  for (const confirmation of confirmations) order.push([authorization, confirmation])
  return {
    parts: [
      ...changes.map(({ part }) => part),
      ...requests,
      ...approvals.map(({ part }) => part),
      authorization,
      ...(receipt === undefined ? [] : [receipt.part]),
      ...confirmations,
    ],
    order,
    promises: new Map(receipt?.log === undefined ? [] : [[receipt.part, receipt.log]]),
  }
}

/** Notes facts that no check fails on. A bundle that cannot be read gets no notes: its checks report it. */
function notesOnAuthority(
  given: Json | undefined,
  of: { execution: () => Execution; changes: () => readonly Change[]; crypto: Crypto },
): string[] {
  const read = readable(() => ({ execution: of.execution(), changes: of.changes() }))
  if (read === undefined) return []
  const { policy, receipt } = read.execution
  const named = `${JSON.stringify(policy.name)} version ${JSON.stringify(policy.version)}`
  const ofChanges = list(given).flatMap((change) => notesOnChange(members(change), of.crypto))
  return [
    ...(receipt === undefined ? ['No entry of the log states the record: only a receipt does.'] : []),
    ...(read.changes.some((change) => change.policy === true)
      ? []
      : [
          `It holds no governance change that put policy ${named} into force: the operator of the service did when it was first started, or the change was left out.`,
        ]),
    ...new Set(ofChanges),
  ]
}
