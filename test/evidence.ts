// An execution must leave these behind, checked from the text of its record and the public halves of the signing keys alone.
import { expect } from 'vitest'
import type { Pool } from 'pg'
import { canonicalize, type Json } from '../src/formats/json/canonical.ts'
import type { PublicKey } from '../src/core/signing/keys.ts'
import { openIntents } from '../src/store/tables/released-batches.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { verifySignature, type Signature } from '../src/core/signing/signature.ts'
import type { Crypto } from '../src/formats/artifacts/evidence.ts'
import { checkTrustRecord } from '../src/formats/artifacts/trust-record.ts'

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

/** The database holds these executions, by what a client may have been told of them. */
export interface Stored {
  /** Every id that is used. */
  readonly claimed: ReadonlySet<string>
  readonly recorded: ReadonlySet<string>
  /** Released, and no record: the effect may or may not have happened. */
  readonly inDoubt: ReadonlySet<string>
}

interface StoredExecution {
  transaction?: { readonly released: boolean }
  open?: object
  record?: object
  verification?: object
  receipt?: object
}

const idsOf = (some: readonly { readonly id: string }[]) => new Set(some.map(({ id }) => id))

/** Reads what is stored. Fails where it contradicts itself, whatever happened: every row of an execution stands or falls with its intent. */
export async function readStored(pool: Pool): Promise<Stored> {
  const stored = new Map<string, StoredExecution>()
  const client = await pool.connect()
  async function collect(kind: keyof StoredExecution, from: string) {
    const { rows } = await client.query<{ id: string }>(`SELECT ${from}`)
    for (const row of rows) {
      const one = stored.get(row.id) ?? {}
      expect(one[kind], `two rows of a kind: ${kind} ${row.id}`).toBeUndefined()
      stored.set(row.id, Object.assign(one, { [kind]: row }))
    }
  }
  try {
    // As of one moment, with a statement for each table: Citus makes no full join of several.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const id = 'business_transaction_id AS id'
    await collect(
      'transaction',
      `${id}, execution_authorization IS NOT NULL AS released FROM business_transactions`,
    )
    await collect('open', `i.id FROM ${openIntents}`)
    await collect('record', `${id} FROM trust_records`)
    await collect('verification', `${id} FROM verifications`)
    await collect('receipt', `${id} FROM receipts`)
  } finally {
    client.release(true)
  }
  const executions = [...stored].map(([id, one]) => ({ id, ...one }))
  for (const one of executions) {
    const { record, verification, receipt } = one
    for (const appended of [verification, receipt])
      expect(appended === undefined, JSON.stringify(one)).toBe(record === undefined)
  }
  const ids = (which: (one: StoredExecution) => boolean) =>
    new Set(executions.filter(which).map(({ id }) => id))
  const released = executions.filter(({ transaction }) => transaction?.released === true)
  const inDoubt = idsOf(released.filter(({ open, record }) => open !== undefined && record === undefined))
  const recorded = idsOf(released.filter(({ open, record }) => open === undefined && record !== undefined))
  const unexecuted = ids(
    ({ transaction, open, record }) =>
      transaction?.released === false && open === undefined && record === undefined,
  )
  expect(inDoubt.size + recorded.size + unexecuted.size).toBe(executions.length)
  return { claimed: ids(() => true), recorded, inDoubt }
}
