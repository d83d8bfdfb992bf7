// Limits of a pass, in sentences for the reader of the report: as much a part of it as the checks.
import type { EvidenceKind } from '../artifacts/kinds.ts'
import { described } from './kinds.ts'

const ALWAYS = [
  'That the key set is authentic: it decides everything. Compare the fingerprints of its keys over a second channel.',
  'That nobody else holds the private keys.',
  'When it was signed: the times are those of the clock of the signer, and `signedAt` is not signed at all.',
  'That nothing is missing: other records, refusals and events may exist that are not in this file.',
] as const

export function notProven(kind: EvidenceKind): readonly string[] {
  return [...described(kind).notProven, ...ALWAYS]
}
