// Artifacts that are stored and not in the evidence log: they are older than the log, were written with LOG=off, or were taken by a log that was
// frozen before it signed them. Each row is read and written by its key, on Citus with its distribution column.
import { artifactsOf, artifactTables, type Artifact, type ArtifactTable } from './artifacts.ts'
import { asText, asTextOrNull, type Statement } from '../postgres/statement-batch.ts'
import { partsOf, type StoredPart } from './stored-parts.ts'

/** `lost`: only artifacts that a frozen log had taken. `all`: also artifacts that no log ever had. */
export type Unlogged = 'lost' | 'all'

export interface ArtifactKey {
  /** The time of its creation: ISO 8601 in UTC, to the millisecond. */
  readonly at: string
  /** As `UnloggedTable.table` is keyed. */
  readonly key: string
  /** A receipt's; 0 elsewhere. */
  readonly ordinal: number
  /** The commit that it names; null: it was never logged. */
  readonly batch: string | null
}

export interface UnloggedTable {
  readonly table: string
  /** Selects `ArtifactKey`s, oldest first. */
  readonly keys: (which: Unlogged) => string
  /**
   * Lock a row if it is not locked and still names `batch`: then each statement returns one row, the last the texts that `artifacts` needs. They do
   * not wait: code that closes intents or resolves changes locks several rows in its own order.
   */
  readonly lock: (key: ArtifactKey) => Statement<LockedRow>[]
  /** The artifacts of a row, oldest first. @throws Error where the row cannot be read */
  readonly artifacts: (row: LockedRow) => Artifact[]
  /** Returns one row. */
  readonly place: (
    key: ArtifactKey,
    place: { readonly batch: string; readonly ordinal: number },
  ) => Statement<{ one: string }>
}

/** In the order of `ArtifactTable.columns`. */
type LockedRow = Readonly<Record<string, string | null>>

const JOIN_TRANSACTION = 'JOIN business_transactions AS t USING (business_transaction_id)'

/** In the order of `artifactTables`. */
export const unloggedTables: readonly UnloggedTable[] = artifactTables.flatMap((table) =>
  partsOf(table.table).map((part) => unloggedTable(table, part)),
)

function unloggedTable(artifactTable: ArtifactTable, part: StoredPart): UnloggedTable {
  const { table, createdAt, numbered, columns, joined, where = 'true' } = artifactTable
  const [column, cast] = artifactTable.key
  const rows = `${part.rows(part.table)} AS c`
  const join = joined === true ? JOIN_TRANSACTION : ''
  const ordinal = numbered === true ? part.ordinal : '0'
  const isRow = `
    c.${column} = $1::${cast} AND ${ordinal} = $2::integer AND c.log_batch IS NOT DISTINCT FROM $3::uuid`
  const returns = Object.fromEntries(Object.keys(columns).map((name) => [name, asTextOrNull]))
  return {
    table,
    keys: (which) => `
      SELECT coalesce(${createdAt}, '') COLLATE "C" AS at, c.${column}::text AS key, ${ordinal} AS ordinal, c.log_batch AS batch
      FROM ${rows} ${join}
      WHERE (${which === 'all' ? 'c.log_batch IS NULL OR ' : ''}c.log_batch IN (SELECT batch FROM log_lost)) AND ${where}
      ORDER BY 1, 2, 3`,
    lock: ({ key, ordinal: nth, batch }) => {
      const read = `SELECT ${Object.values(columns).join(', ')} FROM ${rows} ${join} WHERE ${isRow}`
      // On Citus no statement can lock a row of the coordinator that it joins with a distributed table.
      const steps: Pick<Statement<LockedRow>, 'text' | 'returns'>[] =
        joined === true
          ? [
              {
                text: `SELECT 1 FROM ${rows} WHERE ${isRow} FOR UPDATE SKIP LOCKED`,
                returns: { one: asText },
              },
              { text: read, returns },
            ]
          : [{ text: `${read} FOR UPDATE SKIP LOCKED`, returns }]
      return steps.map((step, i) => ({
        name: `unlogged_lock_${part.table}_${i}`,
        rows: [[key, nth, batch]],
        ...step,
      }))
    },
    artifacts: (row) => artifactsOf(artifactTable, Object.values(row)),
    place: (key, place) => ({
      name: `unlogged_place_${part.table}`,
      text: `
        UPDATE ${part.table} AS c SET log_batch = $4::uuid, log_ordinal = $5::smallint WHERE ${isRow} RETURNING 1`,
      rows: [[key.key, key.ordinal, key.batch, place.batch, place.ordinal]],
      returns: { one: asText },
    }),
  }
}
