// The limits of a pass, in sentences for the reader of the report: they belong to it as much as the checks.
import type { EvidenceKind } from '../artifacts/kinds.ts'
import { described } from './kinds.ts'

/** Applies to files only: a comparison with the evidence log proves more. */
export const NOTHING_MISSING =
  'That nothing is missing: other records, refusals and events may exist that are not in this file.'

const ALWAYS = [
  'That the key set is authentic: it decides everything. Compare the fingerprints of its keys over a second channel.',
  'That nobody else holds the private keys.',
  'When it was signed: the times are those of the clock of the signer, and `signedAt` is not signed at all.',
  NOTHING_MISSING,
] as const

export function notProven(kind: EvidenceKind): readonly string[] {
  return [...described(kind).notProven, ...ALWAYS]
}
