// The checks of a maker/checker change (decisions §7), as proposed or as resolved, from its text alone.
import { canonicalize, type Json } from '../json/canonical.ts'
import {
  canonicalText,
  check,
  checkSigned,
  members,
  string,
  type Check,
  type CheckCrypto,
  type Crypto,
} from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { instantMs } from './instant.ts'
import { checkEd25519 } from './signatures.ts'
import { isSteppedUp, missingStepUpKeyOf, noteOnStepUp } from './step-up.ts'
import type { ArtifactKind, Streams } from './kind.ts'
import * as shape from './known-members.ts'
import { joined, membersAt, textAt, type ChangeText } from './account-text.ts'

/** The action of the human who resolved the change, by its status. */
const ACTIONS: ReadonlyMap<Json | undefined, string> = new Map([
  ['APPROVED', 'approve'],
  ['REJECTED', 'reject'],
])

/** Picks the members that `changeHash` covers, which a checker is shown. A missing member is undefined, and has no hash. */
export function shownOf(change: Members) {
  const { changeId, kind, target, proposed, reason, proposedBy, proposedAt } = change
  return { changeId, kind, target, proposed, reason, proposedBy, proposedAt } as Members
}

/** Picks the members of a change that are signed and logged: `warnings` and `diff` are advice, computed at the proposal. */
export function signedMembersOf(change: Members): Members {
  const { signature: _, warnings: _1, diff: _2, ...signed } = change
  return signed
}

/**
 * Checks a change; never throws.
 * @param evidence the parsed change, or any other JSON that was sent as one
 * @returns at least one check
 */
export function checkGovernanceChange(evidence: Json, given: Crypto): Check[] {
  const change = isMembers(evidence) ? evidence : {}
  const { signature } = change
  const signed = canonicalText(signedMembersOf(change))
  return [
    check('change hash', 'The change hash does not match what was proposed', () => {
      return given.sha256Hex(canonicalize(shownOf(change))) === change['changeHash']
    }),
    checkEd25519('change signature', 'The signature of the change is not valid', given, {
      artifact: 'governance-change',
      text: signed,
      signature,
    }),
    check('resolution', 'The change is not resolved as its status says', () => isResolved(change)),
    checkSigned(
      'step-up authorization',
      'The step-up authorization is not one of this resolution',
      given,
      (crypto) => isSteppedUpAs(change, crypto),
    ),
    ...impactChecks(change, given),
  ]
}

/** No checks for a change whose resolution does not mention its impact. */
function impactChecks(change: Members, { sha256Hex }: Crypto): Check[] {
  const { impactReport, stepUpAuthorization } = change
  const payload = isMembers(stepUpAuthorization) ? stepUpAuthorization['payload'] : undefined
  const impactHash = isMembers(payload) ? payload['impactHash'] : undefined
  if (impactReport === undefined && impactHash === undefined) return []
  return [
    check('impact report', 'The impact report is not the one that the step-up covers', () => {
      const { changeId, changeHash } = members(impactReport)
      const isOfThis = string(changeId) === change['changeId'] && string(changeHash) === change['changeHash']
      return (
        change['kind'] === 'policy' &&
        isOfThis &&
        sha256Hex(canonicalize(members(impactReport))) === impactHash
      )
    }),
  ]
}

function isResolved(change: Members): boolean {
  const { status, resolvedBy, resolvedAt, rejectionReason, proposedBy } = change
  if (status === 'PENDING_APPROVAL')
    return [resolvedBy, resolvedAt, rejectionReason].every((member) => member === undefined)
  return (
    ACTIONS.has(status) &&
    // The proposer must not be the checker.
    string(resolvedBy) !== string(proposedBy) &&
    !Number.isNaN(instantMs(string(resolvedAt))) &&
    (rejectionReason === undefined || (status === 'REJECTED' && typeof rejectionReason === 'string'))
  )
}

function isSteppedUpAs(change: Members, crypto: CheckCrypto): boolean {
  const { status, stepUpAuthorization: stepUp, changeId, changeHash, resolvedBy: by, resolvedAt } = change
  if (status === 'PENDING_APPROVAL') return stepUp === undefined
  const action = ACTIONS.get(status)
  if (action === undefined) return false
  const at = string(resolvedAt)
  return isSteppedUp({ stepUp, by, at, due: { changeId, changeHash, action } as Members }, crypto)
}

/** The id of the key that would be needed to check the step-up, if no such key is given. */
export function missingStepUpKey(
  { stepUpAuthorization: stepUp, resolvedBy: by }: Members,
  crypto: Pick<Crypto, 'humanKey'>,
): string | undefined {
  return missingStepUpKeyOf({ stepUp, by }, crypto)
}

/** Notes facts that no check fails on and that a reader should know. */
export function notesOnChange(change: Members, crypto: Crypto): readonly string[] {
  const due = missingStepUpKey(change, crypto)
  const { warnings = [] } = change
  const isAdvised = 'diff' in change || !(Array.isArray(warnings) && warnings.length === 0)
  return [
    ...noteOnStepUp(due),
    ...(isAdvised
      ? ['Nothing signs the warnings and the diff of a change: they are advice of when it was proposed.']
      : []),
  ]
}

/** Targets are `<name>/<version>` of a policy and `<approverId>:<keyId>` of an approver. */
function streamsOf({ kind, target }: Members): Streams {
  const before = (mark: string) => string(target).slice(0, string(target).indexOf(mark))
  if (kind === 'policy') return { policy: before('/') }
  if (kind === 'approver') return { approver: before(':') }
  return {}
}

function textOf(change: Members): ChangeText {
  const { keyId = '', authorizedAt = '' } = signedBy(change)
  const [resolvedBy, reason] = [textAt(change, 'resolvedBy'), textAt(change, 'rejectionReason')]
  return {
    at: textAt(change, 'resolvedAt') || textAt(change, 'proposedAt'),
    what: joined(
      ' ',
      textAt(membersAt(change, 'proposed'), 'action'),
      textAt(change, 'kind'),
      textAt(change, 'target'),
    ),
    why: textAt(change, 'reason'),
    proposedBy: textAt(change, 'proposedBy'),
    status: textAt(change, 'status'),
    resolved: joined(
      ': ',
      joined(' ', resolvedBy, keyId && `with key ${keyId}`, authorizedAt && `at ${authorizedAt}`),
      reason,
    ),
  }
}

/** The key by which the human signed who resolved a change, and the time. */
function signedBy(change: Members): { readonly keyId?: string; readonly authorizedAt?: string } {
  const stepUp = membersAt(change, 'stepUpAuthorization')
  return {
    keyId: textAt(stepUp, 'keyId'),
    authorizedAt: textAt(membersAt(stepUp, 'payload'), 'authorizedAt'),
  }
}

export const governanceChange = {
  name: 'governance-change',
  times: ['resolvedAt', 'proposedAt'],
  logged: {
    kind: 'governance-change',
    // A policy or approver exists only after a change of it was approved.
    counted: (change) =>
      change['status'] === 'APPROVED'
        ? { streams: streamsOf(change) }
        : { streams: {}, named: streamsOf(change) },
    mark: ({ status }) => ({
      event: status === 'PENDING_APPROVAL' ? 'change.proposed' : 'change.resolved',
    }),
  },
  stored: { table: 'pending_changes', id: 'changeId', at: 'proposedAt', envelope: 'signature' },
  evidence: {
    marks: ['changeId', 'changeHash', 'signature'],
    idOf: ({ changeId }) => changeId,
    check: checkGovernanceChange,
    notesOn: notesOnChange,
    members: shape.signed({ signature: shape.SIGNATURE, warnings: shape.texts, diff: shape.advice }),
    title: 'Governance change',
    plainTitle: 'Change by two humans',
    account: (change) => ({
      change: textOf(change),
      said: {
        Change: joined(' ', textAt(change, 'kind'), textAt(change, 'target')),
        Why: textAt(change, 'reason'),
        'Proposed by': textAt(change, 'proposedBy'),
        'How it ended': textAt(change, 'status'),
        By: textAt(change, 'resolvedBy'),
        When: textAt(change, 'resolvedAt') || textAt(change, 'proposedAt'),
      },
    }),
    notProven: [
      'That the change was right, or took effect.',
      'That its warnings and its diff are what the checker was shown: neither is signed.',
      'That an impact report says what the service would have answered: it is what the human saw who signed its hash. Run the simulation over its range again.',
      'That the one who resolved it is a human and another one than the proposer: their names are what the service knew them by.',
      'That the step-up authorization was used only once, and, where no key of that human is given, that it is signed.',
      'That the human saw what was signed: the page at the origin that a passkey names showed it.',
      'That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).',
      'That it is the latest state of the change: each state is signed on its own.',
    ],
  },
  feed: {
    types: ['change.proposed', 'change.resolved'],
    details(
      { kind, target, changeHash, status, proposedBy, proposedAt, resolvedBy, resolvedAt },
      { id: changeId },
    ) {
      return {
        occurredAt: (resolvedAt ?? proposedAt)!,
        changeId,
        kind,
        target,
        changeHash,
        status,
        by: resolvedBy ?? proposedBy,
      }
    },
  },
} as const satisfies ArtifactKind
