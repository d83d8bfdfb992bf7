// What an execution must leave behind, checked from the text of its record and the public halves of the signing keys alone.
import { expect } from 'vitest'
import type { Pool } from 'pg'
import { canonicalize, type Json } from '../src/core/json/canonical.ts'
import type { PublicKey } from '../src/core/signing/keys.ts'
import { sha256Hex } from '../src/core/signing/sha256.ts'
import { verifySignature, type Signature } from '../src/core/signing/signature.ts'
import { checkTrustRecord, type Crypto } from '../src/core/verifier/trust-record.ts'

export type Members = { readonly [name: string]: Json }

/** Public keys by keyId, as `readPublicKeys` reads those of a service. */
type Keys = ReadonlyMap<string, PublicKey>

export function publishedCrypto(keys: Keys): Crypto {
  return {
    sha256Hex,
    verifySignature: (artifact, text, signature) => {
      const key = keys.get(signature.keyId)
      return key !== undefined && verifySignature(artifact, text, signature as Signature, key)
    },
    // Executions of these tests carry no approvals; those that do are in test/http/approvals.test.ts.
    humanKey: () => undefined,
  }
}

/** A whole record: it holds, and so do its one verification and its one receipt. */
export function expectEvidence(record: Members, keys: Keys): void {
  const checks = checkTrustRecord(record, publishedCrypto(keys))
  expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
  const { trustRecordHash, executions, verifications, receipts } = record
  expect(executions).toHaveLength(1)
  expect(verifications).toMatchObject([{ status: 'VERIFIED', trustRecordHash }])
  expect(receipts).toMatchObject([{ trustRecordHash }])
  const { signature, signatures, ...signed } = (receipts as readonly Members[])[0] ?? {}
  const { receiptHash, ...hashed } = signed
  expect(receiptHash).toBe(sha256Hex(canonicalize(hashed)))
  const { keyId, algorithm } = signed as { keyId: string; algorithm: Signature['algorithm'] }
  const carried = (signatures ?? [{ keyId, algorithm, value: signature }]) as unknown as Signature[]
  for (const one of carried) {
    const key = keys.get(one.keyId)
    expect(key && verifySignature('receipt', canonicalize(signed), one, key)).toBe(true)
  }
}

/** What the database holds of executions, by what a client may have been told of them. */
export interface Stored {
  /** Every id that is used. */
  readonly claimed: ReadonlySet<string>
  readonly recorded: ReadonlySet<string>
  /** Released, and no record: the effect may or may not have happened. */
  readonly inDoubt: ReadonlySet<string>
}

/** Reads what is stored. Fails where it contradicts itself, whatever happened: every row of an execution stands or falls with its intent. */
export async function readStored(pool: Pool): Promise<Stored> {
  const { rows } = await pool.query<{ id: string; state: string | null; whole: boolean; record: boolean }>(`
    SELECT business_transaction_id AS id, i.state, r IS NOT NULL AS record,
      (r IS NULL) = (v IS NULL) AND (r IS NULL) = (c IS NULL)
        AND (i IS NULL) = (t.execution_authorization IS NULL)
        AND (i IS NULL OR i.nonce = t.execution_authorization::json #>> '{payload,nonce}') AS whole
    FROM business_transactions t
    FULL JOIN execution_intents i USING (business_transaction_id)
    FULL JOIN trust_records r USING (business_transaction_id)
    FULL JOIN verifications v USING (business_transaction_id)
    FULL JOIN receipts c USING (business_transaction_id)`)
  expect(new Set(rows.map(({ id }) => id)).size, 'a row of each kind, and one of each').toBe(rows.length)
  expect(rows.filter(({ whole }) => !whole)).toEqual([])
  const ids = (which: (row: { state: string | null; record: boolean }) => boolean) =>
    new Set(rows.filter(which).map(({ id }) => id))
  const inDoubt = ids(({ state, record }) => state === 'RELEASED' && !record)
  const recorded = ids(({ state, record }) => (state === 'FINALIZED' || state === 'ERRORED') && record)
  const unexecuted = ids(({ state }) => state === null)
  expect(inDoubt.size + recorded.size + unexecuted.size).toBe(rows.length)
  return { claimed: ids(() => true), recorded, inDoubt }
}
