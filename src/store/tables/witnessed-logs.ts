// witnessed_logs: the newest checkpoint of each other log that this service has cosigned as a witness.
import { byteaText, type Sql } from '../postgres/sql.ts'

interface WitnessedRow {
  readonly origin: string
  readonly size: number
  /** The root of the tree, 32 bytes. */
  readonly root: Uint8Array
  /** The signed note with our cosignatures. */
  readonly note: string
}

/** Undefined where no checkpoint of the log was cosigned yet. */
export async function readWitnessed(
  sql: Sql,
  origin: string,
): Promise<Pick<WitnessedRow, 'size' | 'root'> | undefined> {
  const { rows } = await sql.query<{ size: string; root: Buffer }>({
    name: 'witnessed_logs_read',
    text: 'SELECT size, root FROM witnessed_logs WHERE origin = $1::text',
    values: [origin],
  })
  return rows.map(({ size, root }) => ({ size: Number(size), root }))[0]
}

/**
 * Stores a checkpoint in place of the one before, if no other was stored meanwhile: of two requests with the same old size only one succeeds.
 * @param oldSize of the checkpoint that it was compared with; undefined where there was none
 * @returns whether it was stored
 */
export async function replaceWitnessed(
  sql: Sql,
  { origin, size, root, note }: WitnessedRow,
  oldSize: number | undefined,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    oldSize === undefined
      ? {
          name: 'witnessed_logs_insert',
          text: `
            INSERT INTO witnessed_logs (origin, size, root, note) VALUES ($1::text, $2::bigint, $3::bytea, $4::text)
            ON CONFLICT DO NOTHING`,
          values: [origin, size, byteaText(root), note],
        }
      : {
          name: 'witnessed_logs_replace',
          text: `
            UPDATE witnessed_logs SET size = $2::bigint, root = $3::bytea, note = $4::text
            WHERE origin = $1::text AND size = $5::bigint`,
          values: [origin, size, byteaText(root), note, oldSize],
        },
  )
  return rowCount === 1
}

/**
 * @param originHash SHA-256 of the origin in lowercase hex
 * @returns the signed note; undefined where no checkpoint of such a log was cosigned
 */
export async function readWitnessedNote(sql: Sql, originHash: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ note: string }>({
    name: 'witnessed_logs_note',
    text: `SELECT note FROM witnessed_logs WHERE encode(sha256(convert_to(origin, 'UTF8')), 'hex') = $1::text`,
    values: [originHash],
  })
  return rows[0]?.note
}
