// verifications and receipts: what was appended to records (interface §2.3, §2.4). A verification is not signed; its receipt is.
import { checkReceipt } from '../../formats/artifacts/receipt.ts'
import { mustHold } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { withSharedSignatures } from '../../store/tables/batch-signatures.ts'
import { lazyMembers, checkOf, type SelectedRow } from './check.ts'

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
      // One that FAILED may have seen other bytes than stand there now.
      (item) => item.members()['status'] !== 'VERIFIED' || isOfRecord(item),
    ],
  ],
})

export const receipts = checkOf({
  table: 'receipts',
  // The verification that it names is found by text, not as JSON: a body that was damaged would end the run.
  columns: { ...appended, verification: ['text?', 'v.body'] },
  joins: `
    ${JOIN_RECORD}
    LEFT JOIN LATERAL (
      SELECT v.body FROM verifications AS v
      WHERE v.business_transaction_id = c.business_transaction_id
        AND strpos(v.body, substring(c.body from '"verificationId":"[0-9a-f-]{36}"')) > 0 LIMIT 1
    ) AS v ON true`,
  async complete(rows, { sql }) {
    const bodies = await withSharedSignatures(
      sql,
      rows.map(({ body }) => body),
    )
    return rows.map((row, i) => ({ ...row, body: bodies[i] as string }))
  },
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
