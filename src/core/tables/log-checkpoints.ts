// log_checkpoints: the signed checkpoints. Each has 3.7 KB and a busy log publishes two a second, so only the last of each minute stays:
// whatever stood under another stands under the next one too.
import type { Sql } from './sql.ts'
import type { Step } from './statement-batch.ts'

export interface CheckpointRow {
  readonly log: number
  readonly size: number
  /** The signed note. */
  readonly note: string
  /** Milliseconds since 1970. */
  readonly publishedAtMs: number
}

/** Stores a checkpoint. One of the same size is replaced, and the last but one is deleted where it is of the same minute as the last. */
export function publishCheckpoint({ log, size, note, publishedAtMs }: CheckpointRow): Step[] {
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

/** The newest checkpoint of a log, or without one that of the newest log; undefined where there is none. */
export async function latestCheckpoint(sql: Sql, log?: number): Promise<CheckpointRow | undefined> {
  const { rows } = await sql.query<Stored>({
    name: 'log_checkpoints_latest',
    text: `
      SELECT log, size, note, published_at AS at FROM log_checkpoints
      WHERE log = coalesce($1::integer, (SELECT max(log) FROM log_state)) ORDER BY size DESC LIMIT 1`,
    values: [log ?? null],
  })
  return rows.map(rowOf)[0]
}

/** The checkpoint of a size; undefined where none was published, or it is not kept. */
export async function checkpointAt(
  sql: Sql,
  { log, size }: { readonly log: number; readonly size: number },
): Promise<CheckpointRow | undefined> {
  const { rows } = await sql.query<Stored>({
    name: 'log_checkpoints_at',
    text: `
      SELECT log, size, note, published_at AS at FROM log_checkpoints
      WHERE log = $1::integer AND size = $2::bigint`,
    values: [log, size],
  })
  return rows.map(rowOf)[0]
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
