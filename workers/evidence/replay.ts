// POST /replay (interface §4.3): whether the record's signature still holds. Executes and evaluates nothing, stores nothing.
import { failures } from '../../src/core/errors/errors.ts'
import { sealedText } from '../../src/store/tables/sealed.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { checkTrustRecord } from '../../src/formats/artifacts/trust-record.ts'
import type { Json } from '../../src/formats/json/canonical.ts'
import type { ThreadContext } from '../context.ts'
import { Finished, type InFlight } from '../in-flight.ts'
import { findRecords, type StoredRecord } from './record-request.ts'

export async function replay(
  batch: readonly InFlight[],
  { pool, crypto }: ThreadContext,
): Promise<Finished[]> {
  const found = await findRecords(batch, pool, failures.noRecordToVerify) // 400 404
  return found.map((item) => {
    if (item instanceof Finished) return item
    const body = { businessTransactionId: item.id, ...signatureOf(item, crypto) }
    return new Finished(item.request, { body: JSON.stringify(body) })
  })
}

function signatureOf({ stored }: StoredRecord, crypto: ThreadContext['crypto']) {
  const signature = checkTrustRecord(parsed(sealedText(stored)), crypto).find(
    ({ name }) => name === 'record signature',
  )
  return {
    // The hash is that of the stored bytes, as a verification states it: in a valid record, the seal names the same.
    trustRecordHash: sha256Hex(stored.body),
    verified: signature !== undefined && signature.problem === undefined,
  }
}

/** Parses a record. A text that was changed in the database and is no JSON any more is no record: nothing in it verifies. */
function parsed(text: string): { readonly [name: string]: Json } {
  try {
    return JSON.parse(text) as { readonly [name: string]: Json }
  } catch {
    return {}
  }
}
