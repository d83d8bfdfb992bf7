// Limits of a pass, in sentences for the reader of the report: as much a part of it as the checks.

import type { EvidenceKind } from '../artifacts/evidence.ts'

const ALWAYS = [
  'That the key set is authentic: it decides everything. Compare the fingerprints of its keys over a second channel.',
  'That nobody else holds the private keys.',
  'When it was signed: the times are those of the clock of the signer, and `signedAt` is not signed at all.',
  'That nothing is missing: other records, refusals and events may exist that are not in this file.',
] as const

const OF_KIND: Readonly<Record<EvidenceKind, readonly string[]>> = {
  'trust-record': [
    'That the policy was a good one, or is the one whose hash is signed: compare policyContentHash with the policy that you expect.',
    'That the declared signals were true, beyond what was verified.',
    'That as many approved as the policy asks for: the record shows who approved, the policy how many must.',
    'That the approvers are the humans that they are named after, or that a key was not revoked: that is what their key files say.',
    'That the human saw what was signed: the page at the origin that a passkey names showed it.',
    'That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).',
    'That no approval was used for another execution too: compare the nonces.',
    'That the effect happened, or happened as reported: the record holds what the connector reported.',
    'That the verifications were run: they are not signed. Only a receipt confirms one.',
  ],
  receipt: [
    'What was executed: a receipt names a record by its hash. Verify the record, and compare its trustRecordHash.',
    'That the verification which it names was run as it says: the signer says so.',
  ],
  'refusal-record': [
    'That the policy was a good one, or that it was right to refuse.',
    'That the same was not executed under another businessTransactionId.',
    'That the verified values were right: the refusal holds what the service saw.',
  ],
  'audit-event': [
    'That what the event tells is true: it is what the service saw and signed.',
    'The order of events, or that none was left out.',
  ],
  'governance-change': [
    'That the change was right, or took effect.',
    'That its warnings and its diff are what the checker was shown: neither is signed.',
    'That an impact report says what the service would have answered: it is what the human saw who signed its hash. Run the simulation over its range again.',
    'That the one who resolved it is a human and another one than the proposer: their names are what the service knew them by.',
    'That the step-up authorization was used only once, and, where no key of that human is given, that it is signed.',
    'That the human saw what was signed: the page at the origin that a passkey names showed it.',
    'That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).',
    'That it is the latest state of the change: each state is signed on its own.',
  ],
  'intent-transition': [
    'That the effect happened or did not, as a resolution says: it is what a human found out and stated, or what a provider or the connector said.',
    'That the intent was in the state which it left, or that no other transition was made: each is signed on its own.',
    'That a record of the hash that it names exists: verify the record, and compare its trustRecordHash.',
  ],
  'provider-confirmation': [
    'That the effect happened or did not: it is what the provider said, as the rule in effect read its delivery.',
    'That the delivery said so: the confirmation names its SHA-256, and the delivery is not in it.',
    'That the rule was right: compare rulesHash with the rules that you expect.',
    'That the provider said nothing else before or after: each confirmation is signed on its own.',
  ],
  'approval-request': [
    'That anybody approved it: an approval is signed by its approver, and stands in the record of the execution.',
    'That it stands as its status, missing, eligible, approvals and endedBy say: only the request and its end are signed.',
    'That what was asked for was executed, or was not: that is what a record or a refusal says.',
    'That the note is true: it is what the caller wrote.',
    'That its signals are true: they are what the caller declared.',
  ],
  'approval-request-close': [
    'What was asked for: it names a request by its hash. Verify the request, and compare its requestHash.',
    'That the one who closed it is the human or the caller of that name: their names are what the service knew them by.',
    'That nothing was executed before: a request that was used cannot be closed, and the service says so.',
  ],
  bundle: [
    'That the policy was a good one: it is in the bundle to be read.',
    'That the declared signals were true, beyond what was verified.',
    'That as many approved as the policy asks for: the record shows who approved, the policy how many must.',
    'That the approvers are the humans that they are named after, or that a key was not revoked before it was used: a revocation is a governance change of its own.',
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

export function notProven(kind: EvidenceKind): readonly string[] {
  return [...OF_KIND[kind], ...ALWAYS]
}
