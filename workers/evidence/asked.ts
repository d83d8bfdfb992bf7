// Which record a POST to /verify, /receipt or /replay is about, and that record as it is stored (interface §4.3).
import type { Pool } from 'pg'
import { parseBody, requiredField } from '../../src/body.ts'
import { Failure, failures } from '../../src/errors.ts'
import { isUuid } from '../../src/schemas/primitives.ts'
import { readEvidence, type StoredEvidence } from '../../src/tables/trust-records.ts'
import { forward, stillGoing, type Answered, type Travelling } from '../execute/road.ts'

export interface Asked extends Travelling {
  /** Lower case. */
  readonly id: string
}

export interface Found extends Asked {
  readonly stored: StoredEvidence
}

/** POST /verify and POST /receipt: the id must be there and be one. */
export function askedById({ request }: Travelling): Asked | Failure {
  const id = requestedId(request.body)
  if (id instanceof Failure) return id
  return isUuid(id) ? { request, id: id.toLowerCase() } : failures.invalidBusinessTransactionId()
}

/** POST /replay: "only presence of the field is checked"; what cannot be an id is the id of no record. */
export function askedByAnything({ request }: Travelling): Asked | Failure {
  const id = requestedId(request.body)
  if (id instanceof Failure) return id
  return isUuid(id) ? { request, id: id.toLowerCase() } : failures.noRecordToVerify()
}

function requestedId(bytes: Uint8Array): unknown {
  const body = parseBody(bytes)
  if (body instanceof Failure) return body
  const field = requiredField(body, 'businessTransactionId')
  return field instanceof Failure ? field : field.value
}

/** Reads the records of a batch in one statement. Another's record is found as little as one that does not exist. */
export async function find(items: readonly (Asked | Answered)[], pool: Pool): Promise<(Found | Answered)[]> {
  const asked = stillGoing(items)
  const evidence = await readEvidence(
    pool,
    asked.map(({ id, request }) => ({ id, owner: request.caller.reads })),
  )
  const storedOf = new Map(asked.map((item, i) => [item, evidence[i]]))
  return forward(items, (item) => {
    const stored = storedOf.get(item)
    return stored === undefined ? failures.noRecordToVerify() : { ...item, stored }
  })
}

/** in  items  of one batch · out  their ids in the one order in which all batches lock, each once */
export function idsInOrder(items: readonly Asked[]): string[] {
  return [...new Set(items.map(({ id }) => id))].toSorted()
}
