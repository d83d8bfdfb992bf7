// Limits of a pass, in sentences for the reader of the report: as much a part of it as the checks.
import { evidenceKinds, type EvidenceKind } from '../artifacts/kinds.ts'

const ALWAYS = [
  'That the key set is authentic: it decides everything. Compare the fingerprints of its keys over a second channel.',
  'That nobody else holds the private keys.',
  'When it was signed: the times are those of the clock of the signer, and `signedAt` is not signed at all.',
  'That nothing is missing: other records, refusals and events may exist that are not in this file.',
] as const

const OF_A_BUNDLE = [
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
] as const

export function notProven(kind: EvidenceKind): readonly string[] {
  const own = evidenceKinds.find(({ name }) => name === kind)?.evidence.notProven ?? OF_A_BUNDLE
  return [...own, ...ALWAYS]
}
