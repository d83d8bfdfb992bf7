// The kinds of evidence that the verifier reads: artifacts and bundles.
import { membersAt } from '../artifacts/account-text.ts'
import { governanceChange } from '../artifacts/governance-change.ts'
import type { Evidence } from '../artifacts/kind.ts'
import { evidenceKinds, type EvidenceKind } from '../artifacts/kinds.ts'
import * as shape from '../artifacts/known-members.ts'
import { ofRecord, trustRecord } from '../artifacts/whole-record.ts'
import { isMembers } from '../json/members.ts'

type Described = Omit<Evidence, 'check' | 'notesOn'>

export const BUNDLE: Described = {
  marks: ['bundle'],
  idOf: ({ record }) => (isMembers(record) ? record['trustRecordId'] : undefined),
  members: shape.closed({
    ...shape.all(shape.checked, ['bundle', 'policy']),
    record: trustRecord.evidence.members,
    approverKeys: [shape.KEY],
    changes: [governanceChange.evidence.members],
    proofs: [shape.closed(shape.all(shape.checked, ['kind', 'id', 'proof']))],
  }),
  title: 'Bundle of one execution',
  plainTitle: 'Executed action, with all that it rests on',
  account: (bundle) => ofRecord(membersAt(bundle, 'record')),
  notProven: [
    'That the policy was a good one: it is in the bundle to be read.',
    'That the declared signals were true, beyond what was verified.',
    'That as many approved as the policy asks for: the record shows who approved, the policy how many must.',
    'That the approvers are the humans that they are named after, or that a key was not revoked before it was used: a revocation is a governance change of its own.',
    'That a group of approvers or a stand-in was not changed between the change that it holds and the decision, or that a member was not away: a later change is an entry of its own, and `countersign fsck` compares them.',
    'That the human saw what was signed: the page at the origin that a passkey names showed it.',
    'That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).',
    'That no approval was used for another execution too: compare the nonces.',
    'That those who resolved the governance changes are humans, and that their step-up authorizations were used only once.',
    'That the warnings and the diff of a governance change are what the checker was shown: neither is signed.',
    'That the effect happened, or happened as reported: the record holds what the connector reported.',
    'That the verifications were run: they are not signed. Only a receipt confirms one.',
    'That the log is the same for everybody: that takes witnesses, or two readers who compare its checkpoints.',
  ],
}

export function described(kind: EvidenceKind): Described {
  return evidenceKinds.find(({ name }) => name === kind)?.evidence ?? BUNDLE
}
