// Exports as NDJSON that are larger than the buffers of both sockets, so that they stand still until somebody reads them.
import type { TestDatabase } from './database.ts'
import type { TestService } from './service.ts'

/** Rows of 2 MB, two of which make a page. */
const ROWS = 40

/** Stores records that nobody executed. @returns what deletes them */
export async function storeWideRecords(
  database: TestDatabase,
  callerId: string,
): Promise<() => Promise<void>> {
  await database.pool.query(
    `INSERT INTO execution_evidence (business_transaction_id, caller_id, created_at, body, seal)
     SELECT gen_random_uuid(), $2, now(), $1::text, '{}' FROM generate_series(1, ${ROWS})`,
    [JSON.stringify({ note: 'x'.repeat(2_000_000) }), callerId],
  )
  return async () => void (await database.pool.query(`DELETE FROM execution_evidence WHERE seal = '{}'`))
}

/** Resolves with the head of the reply; what streams behind it waits until it is read. */
export function askForExport({ url }: TestService, key: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}`, Accept: 'application/x-ndjson' }
  return fetch(`${url}/trust-records`, { headers })
}

/** Reads a reply that is cut. @returns what came of it. @throws Error where it is whole */
export async function readUntilCut({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body ?? []) text += decoder.decode(chunk, { stream: true })
  } catch {
    return text
  }
  throw new Error('The reply is whole.')
}
