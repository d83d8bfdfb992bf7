// log_checkpoints: the signed checkpoints. Each has 3.7 KB and a busy log publishes two a second, so only the last of each minute stays:
// a later checkpoint covers everything that an earlier one covered.
import { meetsQuorum, type LogPolicy } from '../../formats/log/policy.ts'
import { cosignerOf, readCosigned, type Cosignatures } from './log-cosigned.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'

export interface CheckpointRow {
  readonly log: number
  readonly size: number
  /** The signed note. */
  readonly note: string
  /** Milliseconds since 1970. */
  readonly publishedAtMs: number
}

/** Stores a checkpoint. One of the same size is replaced, and the last but one is deleted where it is of the same minute as the last. */
export function publishCheckpoint({ log, size, note, publishedAtMs }: CheckpointRow): Statement[] {
  return [
    {
      name: 'log_checkpoints_thin',
      text: `
        WITH newest AS (
          SELECT size, date_trunc('minute', published_at) AS minute FROM log_checkpoints
          WHERE log = $1::integer ORDER BY size DESC LIMIT 2)
        DELETE FROM log_checkpoints WHERE log = $1::integer AND size = (
          SELECT min(size) FROM newest HAVING count(*) = 2 AND min(minute) = max(minute))`,
      rows: [[log]],
    },
    {
      name: 'log_checkpoints_publish',
      text: `
        INSERT INTO log_checkpoints (log, size, note, published_at)
        VALUES ($1::integer, $2::bigint, $3::text, $4::timestamptz)
        ON CONFLICT (log, size) DO UPDATE SET note = excluded.note, published_at = excluded.published_at`,
      rows: [[log, size, note, new Date(publishedAtMs).toISOString()]],
    },
  ]
}

/**
 * The newest checkpoint of a log; undefined where there is none.
 * @param log by default the newest one
 * @param choice.below only of a smaller tree than this
 */
export async function latestCheckpoint(
  sql: Sql,
  log?: number,
  { below = null }: { readonly below?: number | null } = {},
): Promise<CheckpointRow | undefined> {
  const { rows } = await sql.query<Stored>({
    name: 'log_checkpoints_latest',
    text: `
      SELECT log, size, note, published_at AS at FROM log_checkpoints
      WHERE log = coalesce($1::integer, (SELECT max(log) FROM log_state)) AND ($2::bigint IS NULL OR size < $2::bigint)
      ORDER BY size DESC LIMIT 1`,
    values: [log ?? null, below],
  })
  return rows.map(rowOf)[0]
}

/**
 * The checkpoint that readers get, with its stored cosignatures: the newest or, where witnesses are required, the newest that enough of
 * them have cosigned. Undefined where there is none.
 * @param choice.required the policy whose quorum a checkpoint must meet; undefined: the newest does
 * @param choice.log by default the newest log
 */
export async function servedCheckpoint(
  sql: Sql,
  { required, log }: { readonly required?: LogPolicy | undefined; readonly log?: number | undefined } = {},
): Promise<CheckpointRow | undefined> {
  if (required !== undefined) {
    const rows = await readCosigned(sql, log)
    const met = rows.find(({ cosignatures }) => isCosigned(cosignatures, required))
    return met && withCosignatures(met, met.cosignatures)
  }
  const { rows } = await sql.query<Stored & { cosignatures: Cosignatures | null }>({
    name: 'log_checkpoints_served',
    text: `
      SELECT c.log, c.size, c.note, c.published_at AS at, w.cosignatures
      FROM log_checkpoints AS c LEFT JOIN log_cosigned AS w ON w.log = c.log AND w.size = c.size
      WHERE c.log = coalesce($1::integer, (SELECT max(log) FROM log_state)) ORDER BY c.size DESC LIMIT 1`,
    values: [log ?? null],
  })
  return rows.map((row) => withCosignatures(rowOf(row), row.cosignatures ?? {}))[0]
}

/** Whether enough witnesses have cosigned. Stored cosignatures were verified before. */
function isCosigned(cosignatures: Cosignatures, { witnesses, quorum }: LogPolicy): boolean {
  const signers = witnesses.filter(({ key }) => Object.hasOwn(cosignatures, cosignerOf(key)))
  return meetsQuorum(quorum, signers)
}

function withCosignatures(
  { log, size, note, publishedAtMs }: CheckpointRow,
  cosignatures: Cosignatures,
): CheckpointRow {
  return { log, size, note: noteWith(note, cosignatures), publishedAtMs }
}

/** A signed note with its cosignatures. */
export function noteWith(note: string, cosignatures: Cosignatures): string {
  const lines = Object.keys(cosignatures)
    .toSorted()
    .map((cosigner) => cosignatures[cosigner])
  return note + lines.join('')
}

/** A read that began under an older checkpoint ends within this time. */
const READ_MAX_MS = 60_000
/** If no quorum of witnesses has cosigned for longer than this, the served checkpoint may become smaller. */
const UNMET_DAYS_MAX = 7

/** The least size of the checkpoints that are still served: rows that only smaller trees need can be deleted. */
export async function leastServedSize(
  sql: Sql,
  { log, nowMs }: { readonly log: number; readonly nowMs: number },
): Promise<number> {
  const { rows } = await sql.query<{ size: string }>({
    name: 'log_checkpoints_least_served',
    text: `
      SELECT least(
        coalesce((
          SELECT size FROM log_checkpoints WHERE log = $1::integer AND published_at <= $2::timestamptz
          ORDER BY size DESC LIMIT 1), 0),
        (SELECT min(size) FROM log_cosigned
         WHERE log = $1::integer AND published_at > $2::timestamptz - interval '${UNMET_DAYS_MAX} days')) AS size`,
    values: [log, new Date(nowMs - READ_MAX_MS).toISOString()],
  })
  return Number(rows[0]!.size)
}

/** The checkpoints that are kept, from a size on, in ascending order of their sizes. */
export async function checkpointsFrom(
  sql: Sql,
  { log, from, count }: { readonly log: number; readonly from: number; readonly count: number },
): Promise<CheckpointRow[]> {
  const { rows } = await sql.query<Stored>({
    name: 'log_checkpoints_from',
    text: `
      SELECT log, size, note, published_at AS at FROM log_checkpoints
      WHERE log = $1::integer AND size >= $2::bigint ORDER BY size LIMIT $3::integer`,
    values: [log, from, count],
  })
  return rows.map(rowOf)
}

interface Stored {
  log: number
  size: string
  note: string
  at: Date
}

function rowOf({ log, size, note, at }: Stored): CheckpointRow {
  return { log, size: Number(size), note, publishedAtMs: at.getTime() }
}
