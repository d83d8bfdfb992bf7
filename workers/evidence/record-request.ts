// Finds the record that a POST to /verify, /receipt or /replay is about, as it is stored (interface §4.3).
import type { Pool } from 'pg'
import { parseBody, requiredField } from '../../src/core/json/body.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import type { Sealed } from '../../src/store/tables/sealed.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import { readEvidence } from '../../src/store/tables/trust-records.ts'
import { runStage, stillGoing, type Finished, type InFlight } from '../in-flight.ts'

interface RecordRequest extends InFlight {
  /** Lower case. */
  readonly id: string
}

export interface StoredRecord extends RecordRequest {
  readonly stored: Sealed
}

/**
 * Reads the records of a batch in one statement. Another caller's record is not found, like one that does not exist.
 * @param notAnId the answer to a value that is not a UUID: 400 for POST /verify and POST /receipt; POST /replay requires "only presence of
 *   the field", so there it is the id of no record (404)
 */
export async function findRecords(
  batch: readonly InFlight[],
  pool: Pool,
  notAnId: () => Failure,
): Promise<(StoredRecord | Finished)[]> {
  const items = runStage(batch, ({ request }): RecordRequest | Failure => {
    const body = parseBody(request.body)
    if (body instanceof Failure) return body
    const field = requiredField(body, 'businessTransactionId')
    if (field instanceof Failure) return field
    return isUuid(field.value) ? { request, id: field.value.toLowerCase() } : notAnId()
  })
  const wanted = stillGoing(items)
  const evidence = await readEvidence(
    pool,
    wanted.map(({ id, request }) => ({ id, owner: request.caller.reads })),
  )
  const storedOf = new Map(wanted.map((item, i) => [item, evidence[i]]))
  return runStage(items, (item) => {
    const stored = storedOf.get(item)
    return stored === undefined ? failures.noRecordToVerify() : { ...item, stored }
  })
}

/** @returns the ids of a batch, each once, in the one order in which all batches lock */
export function idsInOrder(items: readonly RecordRequest[]): string[] {
  return [...new Set(items.map(({ id }) => id))].toSorted()
}
