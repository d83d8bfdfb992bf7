// The kinds of artifacts, and lookups of their rows by a name.
import type { Members } from '../json/members.ts'
import type { ArtifactEntry } from '../log/entry.ts'
import type { LoggedKind } from '../log/ids.ts'
import { codeOfEvent, type EventMark, type EventType } from '../schemas/event-types.ts'
import { approval } from './approval.ts'
import { approvalRequest, approvalRequestClose } from './approval-request.ts'
import { approvalRequestNote } from './approval-request-note.ts'
import { auditEvent } from './audit-event.ts'
import { authorization } from './authorization.ts'
import { governanceChange } from './governance-change.ts'
import { intentTransition } from './intent-transition.ts'
import type { ArtifactKind } from './kind.ts'
import { providerConfirmation } from './provider-confirmation.ts'
import { receipt } from './receipt.ts'
import { refusalRecord } from './refusal-record.ts'
import { webhook } from './webhook.ts'
import { trustRecord } from './whole-record.ts'

/** The kinds with entries in the log, in the order for artifacts of the same millisecond: authority before the acts that it allowed. */
export const loggedKinds = [
  governanceChange,
  approvalRequest,
  approvalRequestNote,
  approval,
  approvalRequestClose,
  webhook,
  authorization,
  refusalRecord,
  receipt,
  intentTransition,
  providerConfirmation,
  auditEvent,
] as const

/** The kinds that can stand alone as evidence. */
export const evidenceKinds = [
  trustRecord,
  receipt,
  refusalRecord,
  auditEvent,
  governanceChange,
  intentTransition,
  providerConfirmation,
  approvalRequest,
  approvalRequestClose,
  approvalRequestNote,
] as const

/** The name under which each kind is signed; a bundle is not signed, and contains others. */
export type EvidenceKind = (typeof evidenceKinds)[number]['name'] | 'bundle'

const all: readonly ArtifactKind[] = [...loggedKinds, trustRecord]

/** The signed members that state the creation time of an artifact, by its name. */
export function timesOf(artifact: string): readonly string[] {
  return all.find(({ name }) => name === artifact)?.times ?? []
}

type Logged = Pick<ArtifactKind, 'logged'> & { readonly logged: { readonly kind: LoggedKind } }

/** The entry of an artifact in the log. @param signedText canonical */
export function entryOf<Kind extends Logged>(
  { logged: { kind, hashIn } }: Kind,
  signedText: string,
  sha256Hex: (text: string) => string,
): ArtifactEntry & { readonly kind: Kind['logged']['kind'] } {
  const hash = hashIn === undefined ? sha256Hex(signedText) : hashIn(JSON.parse(signedText) as Members)
  return { kind, hash }
}

const events = new Map<string, EventType>(
  (loggedKinds as readonly ArtifactKind[]).flatMap(({ logged }) =>
    logged?.event === undefined ? [] : [[logged.kind, logged.event]],
  ),
)

/**
 * An entry that is logged after the fact (`late-…`) is no event: in a reopened log it already was one, and work done with LOG=off never is.
 * @returns the code of the entry's event; undefined if it is no event
 */
export function eventCodeOf({
  kind,
  event = events.get(kind),
}: {
  readonly kind: string
  readonly event?: EventMark
}): number | undefined {
  return event === undefined || event === 'none' ? undefined : codeOfEvent(event)
}
