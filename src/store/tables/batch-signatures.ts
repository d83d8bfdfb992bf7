// batch_signatures: the ML-DSA signature of a batch's head, stored once for all records and receipts that are under it. Their texts are
// stored with an empty value, and a reader gets byte for byte the text that was sent (docs/design-notes.md "Batch signatures").
import { overRows } from '../postgres/rows.ts'
import { byteaText, type Sql } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'

/** FIPS 204 §4, Table 2, in base64. */
const VALUE_CHARACTERS = 4412

/** SQL for the bytes of a text as a reader gets it. */
export const wholeBytes = (column: string) =>
  `octet_length(${column}) + CASE WHEN strpos(${column}, '"value":""') > 0 THEN ${VALUE_CHARACTERS} ELSE 0 END`

/** A signature by batch in canonical text: the part up to its value, the UUID of its origin, and the value. */
const SIGNATURE =
  /("algorithm":"ml-dsa-65-batch","batch":\{"index":\d+,"origin":"[^"]+\/batch\/([0-9a-f-]{36})","path":\[[^\]]*\],"size":\d+\},"keyId":"[^"]*",(?:"signedAt":"[^"]*",)?"value":")([^"]*)/g

interface BatchSignature {
  /** UUID. */
  readonly batch: string
  /** Base64. */
  readonly value: string
}

const insert = overRows<BatchSignature>({
  name: 'batch_signatures_insert',
  // It exists already if an item of the batch was stored separately.
  text: `INSERT INTO batch_signatures ($columns) VALUES $rows ON CONFLICT DO NOTHING`,
  columns: {
    batch: ['uuid', ({ batch }) => batch],
    value: ['bytea', ({ value }) => byteaText(Buffer.from(value, 'base64'))],
  },
})

/** Stores signatures, in one order for all writers. One that exists already is left as it is. */
export function insertBatchSignatures(rows: readonly BatchSignature[]): Statement[] {
  return insert(rows.toSorted((a, b) => (a.batch < b.batch ? -1 : 1)))
}

/** Takes the shared signatures out of texts that are to be stored. */
interface SharedSignatures {
  readonly takenFrom: (text: string) => string
  /** Stores the signatures that were taken. */
  readonly statements: () => Statement[]
}

export function shareSignatures(): SharedSignatures {
  const shared = new Map<string, string>()
  return {
    takenFrom: (text) =>
      text.replaceAll(SIGNATURE, (_, before: string, batch: string, value: string) => {
        shared.set(batch, value)
        return before
      }),
    statements: () => insertBatchSignatures(Array.from(shared, ([batch, value]) => ({ batch, value }))),
  }
}

/**
 * Gives stored texts their shared signatures back, by one statement for all of them, or none if no text needs one.
 * @returns in the order of `texts`; where a signature is not stored, its value stays empty and does not verify
 */
export async function withSharedSignatures<Text extends string | null>(
  sql: Sql,
  texts: readonly Text[],
): Promise<Text[]> {
  const batches = new Set(
    texts.flatMap((text) => Array.from(text?.matchAll(SIGNATURE) ?? [], ([, , batch]) => batch as string)),
  )
  if (batches.size === 0) return [...texts]
  const { rows } = await sql.query<BatchSignature>({
    name: 'batch_signatures_read',
    text: `SELECT batch, encode(value, 'base64') AS value FROM batch_signatures WHERE batch = ANY($1::uuid[])`,
    values: [[...batches]],
  })
  // PostgreSQL breaks base64 into lines.
  const values = new Map(rows.map(({ batch, value }) => [batch, value.replaceAll('\n', '')]))
  return texts.map(
    (text) =>
      text?.replaceAll(
        SIGNATURE,
        (_, before: string, batch: string, value: string) =>
          before + (value === '' ? (values.get(batch) ?? '') : value),
      ) as Text,
  )
}
