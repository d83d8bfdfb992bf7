// verifications and receipts: what was appended to records (interface §2.3, §2.4). A verification is not signed; its receipt is.
import { checkReceipt } from '../../formats/artifacts/receipt.ts'
import { mustHold } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { withSharedSignatures } from '../../store/tables/batch-signatures.ts'
import type { Tools } from './tools.ts'
import { lazyMembers, tableCheck, type Rule } from './check.ts'

interface Row {
  readonly id: string
  readonly ordinal: number
  readonly body: string
  /** SHA-256 of the record's body, hex; null where there is no record. */
  readonly recordHash: string | null
  readonly recordSeal: string | null
}

interface Item extends Row {
  readonly key: string
  readonly members: () => Members
}

const RECORD = `
  encode(sha256(convert_to(r.body, 'UTF8')), 'hex') AS "recordHash", r.seal AS "recordSeal"`

const read =
  <R extends Row>(table: string) =>
  (row: R): R & Item => ({ ...row, key: `${row.id} ${row.ordinal}`, members: lazyMembers(row.body, table) })

const ofItsRecord: Rule<Item> = [
  'names another transaction',
  ({ id, members }) => members()['businessTransactionId'] === id,
]

/** A changed record keeps its hash in the seal, so that only the record itself is reported. */
function isOfRecord({ members, recordHash, recordSeal }: Item): boolean {
  const { trustRecordHash } = members()
  return (
    recordHash === null ||
    trustRecordHash === recordHash ||
    (typeof trustRecordHash === 'string' && recordSeal !== null && recordSeal.includes(trustRecordHash))
  )
}

export const verifications = tableCheck<Row, Item>({
  table: 'verifications',
  text: `
    SELECT v.business_transaction_id AS id, v.ordinal, v.body, ${RECORD}
    FROM $table AS v LEFT JOIN trust_records AS r USING (business_transaction_id)`,
  read: read('verifications'),
  rules: [
    ofItsRecord,
    [
      'does not match its schema',
      ({ members }) => {
        const { verificationId, status, message, verifiedAt } = members()
        const texts = [verificationId, message, verifiedAt].every((member) => typeof member === 'string')
        return texts && (status === 'VERIFIED' || status === 'FAILED')
      },
    ],
    [
      'is the first verification, but not VERIFIED',
      ({ ordinal, members }) => ordinal !== 1 || members()['status'] === 'VERIFIED',
    ],
    [
      "is VERIFIED, but its hash differs from the trust record's",
      // One that FAILED may have seen other bytes than stand there now.
      (item) => item.members()['status'] !== 'VERIFIED' || isOfRecord(item),
    ],
  ],
})

interface ReceiptRow extends Row {
  /** The body of the verification that it names. */
  readonly verification: string | null
}

async function withSignatures(rows: readonly ReceiptRow[], { sql }: Tools): Promise<readonly ReceiptRow[]> {
  const bodies = await withSharedSignatures(
    sql,
    rows.map(({ body }) => body),
  )
  return rows.map((row, i) => ({ ...row, body: bodies[i] as string }))
}

export const receipts = tableCheck<ReceiptRow, ReceiptRow & Item>({
  table: 'receipts',
  // By text, not as JSON: a body that was damaged would end the run.
  text: `
    SELECT c.business_transaction_id AS id, c.ordinal, c.body, ${RECORD}, v.body AS verification
    FROM $table AS c LEFT JOIN trust_records AS r USING (business_transaction_id)
    LEFT JOIN LATERAL (
      SELECT v.body FROM verifications AS v
      WHERE v.business_transaction_id = c.business_transaction_id
        AND strpos(v.body, substring(c.body from '"verificationId":"[0-9a-f-]{36}"')) > 0 LIMIT 1
    ) AS v ON true`,
  complete: withSignatures,
  read: read('receipts'),
  rules: [
    ofItsRecord,
    ['does not verify', ({ members }, { crypto }) => mustHold(checkReceipt(members(), crypto))],
    ["hash differs from the trust record's", isOfRecord],
    [
      'names a verification that is missing or not VERIFIED',
      ({ members, verification }) => {
        if (verification === null) return false
        const { verificationId, status } = lazyMembers(verification, 'verifications')()
        return status === 'VERIFIED' && verificationId === members()['verificationId']
      },
    ],
  ],
})
