// The tables of evidence that has entries in the log, and how the entries of a row follow from it. Each row is read by its key, on Citus
// with its distribution column.
import { approval } from '../../formats/artifacts/approval.ts'
import { authorization } from '../../formats/artifacts/authorization.ts'
import { ownerOfExecution } from '../../formats/artifacts/execution-streams.ts'
import { governanceChange } from '../../formats/artifacts/governance-change.ts'
import type { ArtifactKind } from '../../formats/artifacts/kind.ts'
import { entryOf, loggedKinds } from '../../formats/artifacts/kinds.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { Members } from '../../formats/json/members.ts'
import type { LoggedKind } from '../../formats/log/ids.ts'
import { columnOf } from '../postgres/rows.ts'
import { isoTime } from '../postgres/sql.ts'
import { sha256Hex } from '../sha256.ts'
import type { QueuedEntry } from './log-queue.ts'

export interface Artifact extends Pick<QueuedEntry, 'hash' | 'id'> {
  readonly kind: LoggedKind
  /** The streams that count it: their names exist. */
  readonly streams: QueuedEntry['streams']
  /** The streams that count it if their names existed when it was logged: a refused, approved or proposed artifact may contain any name. */
  readonly named?: QueuedEntry['streams']
}

/** The texts of a row, by name. A null in the database is the empty text, which no column holds otherwise. */
export type ArtifactRow = Readonly<Record<string, string>>

export interface ArtifactTable {
  readonly kind: LoggedKind
  readonly table: string
  /** The column, with the cast of its values. */
  readonly key: readonly [column: string, cast: 'uuid' | 'text']
  readonly owner?: NonNullable<LoggedArtifactKind['stored']['owner']>
  /** SQL of the time at which a row was made, as text, over `c` and, where it is `joined`, `t`. */
  readonly createdAt: string
  /** Several rows share the key, with an `ordinal` each. */
  readonly numbered?: true
  /** SQL of the values of a row `c` that `artifacts` needs, as text, by name. */
  readonly columns: Readonly<Record<string, string>>
  /** The transaction is read too, as `t`. */
  readonly joined?: true
  /** Which rows have an artifact; left out: all. */
  readonly where?: string
  /** Oldest first. The place in the log that the row keeps is that of the last. @throws Error where the row cannot be read */
  readonly artifacts: (row: ArtifactRow) => Artifact[]
}

type LoggedArtifactKind = ArtifactKind & Required<Pick<ArtifactKind, 'logged' | 'stored'>>

const TRANSACTION = {
  caller: 't.caller_id',
  transaction: 't.body',
  authorization: 't.execution_authorization',
}

const AUTHORIZATION = {
  columns: { id: 'c.business_transaction_id::text', ...TRANSACTION },
  artifacts: (row: ArtifactRow) => [artifactOf(authorization, payloadIn(row['authorization']), row)],
}

/** The tables that keep another text than the signed one in `body`, or more than one artifact in a row. */
const DIFFERENCES: { readonly [table: string]: Partial<ArtifactTable> } = {
  pending_changes: {
    createdAt: `coalesce(substring(c.resolved_body from '"resolvedAt":"([^"]*)"'), ${isoTime('c.proposed_at')})`,
    columns: { id: 'c.change_id::text', body: 'c.body', resolvedBody: 'c.resolved_body' },
    artifacts({ body = '', resolvedBody = '', ...row }) {
      const made = [body, resolvedBody]
        .filter((text) => text !== '')
        .map((text) => artifactOf(governanceChange, text, row))
      // An approved policy exists, so the streams count its proposal too.
      const { streams = {}, ...counted } = made.at(-1) ?? {}
      return made.map(({ kind, hash, id }) => ({ ...counted, kind, hash, id, streams }))
    },
  },
  approvals: { artifacts: (row) => [artifactOf(approval, payloadIn(row['body']), row)] },
  webhook_events: {
    columns: { id: 'c.event_key::text', hash: 'c.body_sha256' },
    artifacts: ({ id = '', hash = '' }) => [{ kind: 'webhook', hash, id, streams: {} }],
  },
  business_transactions: {
    ...AUTHORIZATION,
    where: `c.execution_authorization IS NOT NULL AND NOT EXISTS (
      SELECT FROM execution_intents_before AS b WHERE b.business_transaction_id = c.business_transaction_id)`,
  },
  receipts: { createdAt: `substring(c.body from '"issuedAt":"([^"]*)"')`, numbered: true },
}

/** The release before kept the place of an authorization in the log in a row of its own. */
const authorizationsBefore: ArtifactTable = {
  ...tableOf(authorization),
  ...AUTHORIZATION,
  table: 'execution_intents_before',
  createdAt: isoTime('t.created_at'),
  owner: ownerOfExecution,
  where: 't.execution_authorization IS NOT NULL',
}

/** In the order of `loggedKinds`. */
export const artifactTables: readonly ArtifactTable[] = [...loggedKinds.map(tableOf), authorizationsBefore]

function tableOf({ logged, stored, ...kind }: LoggedArtifactKind): ArtifactTable {
  const { table, id, at, owner, joined, columns } = stored
  const key = columnOf(id)
  const row = { ...kind, logged, stored }
  return {
    kind: logged.kind,
    table,
    key: [key, columns?.[id] === 'text' ? 'text' : 'uuid'],
    createdAt: isoTime(`c.${columnOf(at)}`),
    columns: { id: `c.${key}::text`, ...(joined === true ? TRANSACTION : {}), body: 'c.body' },
    artifacts: (read) => [artifactOf(row, read['body'] ?? '', read)],
    ...(owner === undefined ? {} : { owner }),
    ...(joined === true ? { joined } : {}),
    ...DIFFERENCES[table],
  }
}

/** @throws Error where it cannot be read */
function artifactOf(kind: LoggedArtifactKind, signedText: string, row: ArtifactRow): Artifact {
  const { id = '', caller = '', transaction = '', authorization: released = '' } = row
  const counted = kind.logged.counted?.(JSON.parse(signedText) as Members, {
    caller,
    transaction,
    isReleased: released !== '',
  })
  return { ...entryOf(kind, signedText, sha256Hex), id, ...(counted ?? { streams: {} }) }
}

function payloadIn(signed = ''): string {
  return canonicalize((JSON.parse(signed) as { payload: Json }).payload)
}

/**
 * The artifacts of a row, oldest first.
 * @param row the texts of its `columns`, in their order
 * @throws Error where it cannot be read
 */
export function artifactsOf(table: ArtifactTable, row: readonly (string | null)[]): Artifact[] {
  return table.artifacts(namedColumns(Object.keys(table.columns), row))
}

export function namedColumns(names: readonly string[], texts: readonly (string | null)[]): ArtifactRow {
  return Object.fromEntries(names.map((name, i) => [name, texts[i] ?? '']))
}
