// The entry that each signed artifact has in the evidence log: one place for those who write entries and for those who check them.
// Browser-safe: hashing is an argument.
import { LATE, type LogEntry } from '../log/entry.ts'

/** An entry without its numbers in streams, which the sequencer gives it. */
export type ArtifactEntry = Pick<LogEntry, 'kind' | 'hash'>

type Sha256Hex = (text: string) => string

/**
 * The kind is named as what was signed, but for `authorization` (execution-authorization) and `refusal` (refusal-record). The hash is of the
 * canonical signed text, or the one that the artifact states of itself.
 */
const hashed =
  <Kind extends string>(kind: Kind) =>
  (signedText: string, sha256Hex: Sha256Hex): { kind: Kind; hash: string } => ({
    kind,
    hash: sha256Hex(signedText),
  })
const stated =
  <Kind extends string>(kind: Kind) =>
  (hash: string): { kind: Kind; hash: string } => ({ kind, hash })

export const artifactEntry = {
  /** The hash covers the `payload` of an execution authorization. */
  authorization: hashed('authorization'),
  /** By its `receiptHash`. */
  receipt: stated('receipt'),
  /** By its `refusalRecordHash`. */
  refusal: stated('refusal'),
  /** The hash covers the `event`. */
  auditEvent: hashed('audit-event'),
  /** The hash covers one state of a change: its members without `signature`, `warnings` and `diff`. */
  governanceChange: hashed('governance-change'),
  /** The hash covers the `transition`. */
  intentTransition: hashed('intent-transition'),
  /** The hash covers the `confirmation`. */
  providerConfirmation: hashed('provider-confirmation'),
  /** The hash covers the `request`. */
  approvalRequest: hashed('approval-request'),
  /** The hash covers how it was closed: the members of `closed` without `signature`. */
  approvalRequestClose: hashed('approval-request-close'),
  /** The hash covers the `payload` of a signed approval. */
  approval: hashed('approval'),
  /** By the SHA-256 of the body as it was received. */
  webhook: stated('webhook'),
} as const

export function isLateKind(kind: string): boolean {
  return kind.startsWith(LATE)
}

/** Whether a logged entry is this artifact's; a late one shows nothing of when the artifact was made. */
export function isEntryOf(logged: ArtifactEntry, artifact: ArtifactEntry): { late: boolean } | undefined {
  if (logged.hash !== artifact.hash) return undefined
  if (logged.kind === artifact.kind) return { late: false }
  return logged.kind === LATE + artifact.kind ? { late: true } : undefined
}
