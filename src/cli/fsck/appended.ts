// verifications and receipts: the artifacts that were appended to records (interface §2.3, §2.4). A verification is not signed;
// its receipt is.
import { checkReceipt } from '../../formats/artifacts/receipt.ts'
import { mustHold } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { withSharedSignatures } from '../../store/tables/batch-signatures.ts'
import { lazyMembers, checkOf, type SelectedRow } from './check.ts'
import type { Tools } from './tools.ts'

/** An appended artifact, and the stored parts of its record. */
const appended = {
  key: ['text', `c.business_transaction_id || ' ' || c.ordinal`],
  id: ['text', 'c.business_transaction_id'],
  ordinal: 'integer',
  body: 'text',
  // SHA-256 of the record's body, hex; null where there is no record.
  recordHash: ['text?', `encode(sha256(convert_to(r.body, 'UTF8')), 'hex')`],
  recordSeal: ['text?', 'r.seal'],
} as const
const JOIN_RECORD = 'LEFT JOIN trust_records AS r USING (business_transaction_id)'

interface Item extends SelectedRow<typeof appended> {
  readonly members: () => Members
}

/** A changed record keeps its hash in the seal, so that only the record itself is reported. */
function isOfRecord({ members, recordHash, recordSeal }: Item): boolean {
  const { trustRecordHash } = members()
  return (
    recordHash === null ||
    trustRecordHash === recordHash ||
    (typeof trustRecordHash === 'string' && recordSeal !== null && recordSeal.includes(trustRecordHash))
  )
}

export const verifications = checkOf({
  table: 'verifications',
  columns: appended,
  joins: JOIN_RECORD,
  read: (row) => ({ ...row, members: lazyMembers(row.body, 'verifications') }),
  rules: [
    ['names another transaction', ({ id, members }) => members()['businessTransactionId'] === id],
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
      // A FAILED verification may have seen other bytes than those that are stored now.
      (item) => item.members()['status'] !== 'VERIFIED' || isOfRecord(item),
    ],
  ],
})

/** A receipt, and the body of the verification that it names; null where none has that id. */
interface Receipt extends SelectedRow<typeof appended> {
  readonly verification: string | null
}

/** Found as text, not as JSON: parsing a damaged body would end the run. */
const VERIFICATION_ID = '"verificationId":"[0-9a-f-]{36}"'

async function withVerifications(
  rows: readonly SelectedRow<typeof appended>[],
  { sql }: Tools,
): Promise<readonly Receipt[]> {
  const names = rows.map(({ body }) => new RegExp(VERIFICATION_ID).exec(body)?.[0] ?? '')
  const found = await sql.query<{ id: string; name: string; body: string }>({
    text: `
      SELECT business_transaction_id AS id, name, body
      FROM (SELECT business_transaction_id, substring(body from $3::text) AS name, body FROM verifications) AS v
      WHERE business_transaction_id = ANY ($1::uuid[]) AND name = ANY ($2::text[])`,
    values: [rows.map(({ id }) => id), names, VERIFICATION_ID],
  })
  const byName = new Map(found.rows.map(({ id, name, body }) => [`${id} ${name}`, body]))
  const bodies = await withSharedSignatures(
    sql,
    rows.map(({ body }) => body),
  )
  return rows.map((row, i) => ({
    ...row,
    body: bodies[i] as string,
    verification: byName.get(`${row.id} ${names[i]}`) ?? null,
  }))
}

export const receipts = checkOf({
  table: 'receipts',
  columns: appended,
  joins: JOIN_RECORD,
  complete: withVerifications,
  read: (row) => ({ ...row, members: lazyMembers(row.body, 'receipts') }),
  rules: [
    ['names another transaction', ({ id, members }) => members()['businessTransactionId'] === id],
    ['does not verify', ({ members }, { crypto }) => mustHold(checkReceipt(members(), crypto))],
    ["hash differs from the trust record's", (item) => isOfRecord(item)],
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
