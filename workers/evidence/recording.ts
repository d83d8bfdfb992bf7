// The evidence of one commit: artifacts and audit events, each signed and with its entry in the log.
import { randomUUID } from 'node:crypto'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { auditEvent } from '../../src/formats/artifacts/audit-event.ts'
import type { ArtifactKind, OfExecution } from '../../src/formats/artifacts/kind.ts'
import { entryOf } from '../../src/formats/artifacts/kinds.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import type { Members } from '../../src/formats/json/members.ts'
import type { AuditType } from '../../src/formats/schemas/audit-types.ts'
import type { Statement } from '../../src/store/postgres/statement-batch.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { insertAuditEvents, type AuditEventRow } from '../../src/store/tables/audit-events.ts'
import type { LogEntries, LogPosition } from '../../src/store/tables/log-queue.ts'
import type { Sealed } from '../../src/store/tables/sealed.ts'
import type { ThreadContext } from '../context.ts'
import type { ExistingStreams } from '../existing-streams.ts'

type RecordedKind = ArtifactKind & Required<Pick<ArtifactKind, 'logged' | 'stored'>>
/** A kind whose signature stands in its row: the service's, or an approver's. */
type SignedKind = RecordedKind & { readonly name: Exclude<ArtifactKind['name'], 'webhook'> }

/** The row of an artifact: the columns that repeat its members, its text and its seal. */
type SignedRow<Kind extends SignedKind, Body> = Sealed &
  Pick<Body, keyof Body & keyof Kind['stored']['columns']>

/** Signs an artifact. @param by.at ISO 8601 */
export function signed<Kind extends SignedKind, Body extends object>(
  { name, stored }: Kind,
  members: Body,
  { key, at }: { readonly key: SigningKey; readonly at: string },
): SignedRow<Kind, Body> {
  const body = canonicalize({ ...members } as Members)
  const signature = { ...signEd25519(name, body, key), signedAt: at }
  const columns = Object.entries(members).filter(([member]) => Object.hasOwn(stored.columns ?? {}, member))
  return {
    ...Object.fromEntries(columns),
    body,
    seal: canonicalize(stored.envelope === 'signature' ? { signature } : signature),
  } as SignedRow<Kind, Body>
}

/** A row of the route table, as `METHOD /path/{parameter}`. */
export type RoutePattern = `${'GET' | 'POST'} /${string}`

/** The act, for its audit event (decisions §9). */
export interface Done {
  /** By default a new one. */
  readonly eventId?: string
  readonly type: AuditType
  /** `service`: no request caused it. */
  readonly route: RoutePattern | 'service'
  /** callerId; left out for an act of the service itself. */
  readonly by?: string
  /** ISO 8601; now, if it is left out. */
  readonly at?: string
  /** The reason in the actor's words, or a sentence. */
  readonly reason: string
  readonly capability?: string | undefined
  readonly severity?: 'INFO' | 'WARNING'
  /** Ids of its subjects, and of the artifacts that authorized it. */
  readonly detail: Readonly<Record<string, Json>>
}

/** The signed audit event of an act. */
export function auditRow(
  { eventId = randomUUID(), at = new Date().toISOString(), severity = 'INFO', by, capability, ...done }: Done,
  key: SigningKey,
): AuditEventRow {
  const event = {
    ...done,
    eventId,
    occurredAt: at,
    severity,
    ...(by === undefined ? {} : { callerId: by }),
    ...(capability === undefined ? {} : { capability }),
  }
  return signed(auditEvent, event, { key, at: new Date().toISOString() })
}

/** @returns the last statements of a commit: they store the audit events of it, and all entries of `log`, the events' own behind the others */
export function auditAndLog(rows: readonly AuditEventRow[], log: LogEntries): Statement[] {
  const logged = rows.map((row) => ({ ...row, ...enter(auditEvent, row.body, { log, id: row.eventId }) }))
  return [...insertAuditEvents(logged), ...log.statements()]
}

interface Entering {
  readonly log: LogEntries
  readonly id: string
  readonly owner?: string | undefined
  readonly execution?: OfExecution
  readonly existing?: ExistingStreams
}

const NO_EXECUTION: OfExecution = { caller: '', transaction: '', isReleased: false }

/** Queues the entry of an artifact. */
function enter(
  kind: RecordedKind,
  signedText: string,
  { log, id, owner, execution = NO_EXECUTION, existing = (streams) => streams }: Entering,
): LogPosition {
  const { counted, mark } = kind.logged
  return log.add(() => {
    const members = (counted ?? mark) === undefined ? {} : (JSON.parse(signedText) as Members)
    const { streams = {}, named = {} } = counted?.(members, execution) ?? {}
    return {
      ...entryOf(kind, signedText, sha256Hex),
      id,
      streams: { ...streams, ...existing(named) },
      ...(owner === undefined ? {} : { owner }),
      ...mark?.(members),
    }
  })
}

export interface Recording {
  /**
   * Signs an artifact, and queues its entry.
   * @param of.at when it is signed, ISO 8601
   * @param of.owner the caller who may follow its event; left out: the caller of its stream
   * @param of.execution the execution that it belongs to, where its streams follow from that
   * @returns the row that its table stores, except for columns that repeat none of its members
   */
  readonly record: <Kind extends SignedKind, Body extends object>(
    kind: Kind,
    members: Body,
    of: Pick<Entering, 'owner' | 'execution'> & { readonly at: string },
  ) => SignedRow<Kind, Body> & LogPosition
  /** Queues the entry of an artifact that a human signed. */
  readonly enter: (kind: RecordedKind, signedMembers: object) => LogPosition
  /** Signs the audit event of an act: both are stored in the same commit, so that neither exists without the other. */
  readonly audit: (done: Done) => void
  /** @returns the last statements of the commit */
  readonly statements: () => Statement[]
}

function idIn({ stored }: RecordedKind, members: object): string {
  return (members as Record<string, string>)[stored.id]!
}

/** Starts the evidence of a commit. @param tools.existingStreams where artifacts may contain names that do not exist */
export function startRecording({
  key,
  startLogEntries,
  existingStreams: existing,
}: Pick<ThreadContext, 'key' | 'startLogEntries'> &
  Partial<Pick<ThreadContext, 'existingStreams'>>): Recording {
  const entries = startLogEntries()
  const events: AuditEventRow[] = []
  const entering = existing === undefined ? { log: entries } : { log: entries, existing }
  return {
    record(kind, members, { at, ...of }) {
      const row = signed(kind, members, { key, at })
      return { ...row, ...enter(kind, row.body, { ...entering, ...of, id: idIn(kind, members) }) }
    },
    enter: (kind, members) =>
      enter(kind, canonicalize(members as Members), { ...entering, id: idIn(kind, members) }),
    audit: (done) => void events.push(auditRow(done, key)),
    statements: () => auditAndLog(events, entries),
  }
}
