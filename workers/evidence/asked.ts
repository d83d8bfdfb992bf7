// Which record a POST to /verify, /receipt or /replay is about, and that record as it is stored (interface §4.3).
import type { Pool } from 'pg'
import { parseBody, requiredField } from '../../src/core/json/body.ts'
import { Failure, failures } from '../../src/core/errors.ts'
import { isUuid } from '../../src/core/schemas/primitives.ts'
import { readEvidence, type StoredEvidence } from '../../src/core/tables/trust-records.ts'
import { forward, stillGoing, type Answered, type InFlight } from '../execute/pipeline.ts'

interface Asked extends InFlight {
  /** Lower case. */
  readonly id: string
}

export interface Found extends Asked {
  readonly stored: StoredEvidence
}

/**
 * The step that finds the id in a body; it must be there.
 * in  notAnId  what stands there and is no UUID: POST /verify and POST /receipt say so (400); POST /replay asks "only presence of
 *              the field", there it is the id of no record (404)
 */
export function asked(notAnId: () => Failure): (item: InFlight) => Asked | Failure {
  return ({ request }) => {
    const body = parseBody(request.body)
    if (body instanceof Failure) return body
    const field = requiredField(body, 'businessTransactionId')
    if (field instanceof Failure) return field
    return isUuid(field.value) ? { request, id: field.value.toLowerCase() } : notAnId()
  }
}

/** Reads the records of a batch in one statement. Another's record is found as little as one that does not exist. */
export async function find(items: readonly (Asked | Answered)[], pool: Pool): Promise<(Found | Answered)[]> {
  const wanted = stillGoing(items)
  const evidence = await readEvidence(
    pool,
    wanted.map(({ id, request }) => ({ id, owner: request.caller.reads })),
  )
  const storedOf = new Map(wanted.map((item, i) => [item, evidence[i]]))
  return forward(items, (item) => {
    const stored = storedOf.get(item)
    return stored === undefined ? failures.noRecordToVerify() : { ...item, stored }
  })
}

/** in  items  of one batch · out  their ids in the one order in which all batches lock, each once */
export function idsInOrder(items: readonly Asked[]): string[] {
  return [...new Set(items.map(({ id }) => id))].toSorted()
}
