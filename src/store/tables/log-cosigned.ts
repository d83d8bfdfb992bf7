// log_cosigned: the newest checkpoints that witnesses were asked to cosign, with their cosignatures.
import type { VerifierKey } from '../../formats/log/note.ts'
import type { Sql } from '../postgres/sql.ts'

/** The line of each key, by the key's name and id. */
export type Cosignatures = Readonly<Record<string, string>>

interface CosignedRow {
  readonly log: number
  readonly size: number
  /** The signed note, without the lines of witnesses. */
  readonly note: string
  /** Milliseconds since 1970. */
  readonly publishedAtMs: number
  readonly cosignatures: Cosignatures
}

/** How a key is named among the cosignatures. */
export const cosignerOf = ({ name, keyId }: VerifierKey): string => `${name}+${keyId}`

/** More checkpoints than the service asks witnesses to cosign while the slowest one answers. */
const KEPT = 8

/**
 * Stores a checkpoint that witnesses are about to be asked for. A checkpoint that was published again keeps its cosignatures: they are of
 * its tree.
 * @param served the size of the checkpoint that must stay beside the newest
 */
export async function keepToCosign(
  sql: Sql,
  { log, size, note, publishedAtMs }: Omit<CosignedRow, 'cosignatures'>,
  served: number | undefined,
): Promise<void> {
  await sql.query({
    name: 'log_cosigned_keep',
    text: `
      WITH gone AS (
        DELETE FROM log_cosigned WHERE log = $1::integer AND size <> coalesce($5::bigint, -1) AND size < (
          SELECT min(size) FROM (SELECT size FROM log_cosigned WHERE log = $1::integer ORDER BY size DESC LIMIT ${KEPT}) AS newest))
      INSERT INTO log_cosigned (log, size, note, published_at)
      VALUES ($1::integer, $2::bigint, $3::text, $4::timestamptz)
      ON CONFLICT (log, size) DO UPDATE SET note = excluded.note, published_at = excluded.published_at`,
    values: [log, size, note, new Date(publishedAtMs).toISOString(), served ?? null],
  })
}

/** Adds cosignatures; one of the same key replaces the one before. */
export async function addCosignatures(
  sql: Sql,
  { log, size }: Pick<CosignedRow, 'log' | 'size'>,
  cosignatures: Cosignatures,
): Promise<void> {
  await sql.query({
    name: 'log_cosigned_add',
    text: `
      UPDATE log_cosigned SET cosignatures = cosignatures || $3::jsonb WHERE log = $1::integer AND size = $2::bigint`,
    values: [log, size, JSON.stringify(cosignatures)],
  })
}

/** Newest first; of the newest log where `log` is undefined. */
export async function readCosigned(sql: Sql, log?: number): Promise<CosignedRow[]> {
  const { rows } = await sql.query<{
    log: number
    size: string
    note: string
    at: Date
    cosignatures: Cosignatures
  }>({
    name: 'log_cosigned_read',
    text: `
      SELECT log, size, note, published_at AS at, cosignatures FROM log_cosigned
      WHERE log = coalesce($1::integer, (SELECT max(log) FROM log_state)) ORDER BY size DESC`,
    values: [log ?? null],
  })
  return rows.map(({ at, size, ...row }) => ({ ...row, size: Number(size), publishedAtMs: at.getTime() }))
}
