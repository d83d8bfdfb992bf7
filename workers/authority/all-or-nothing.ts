// How governance answers: each request alone, in one transaction that leaves nothing behind when it is refused.
import pLimit from 'p-limit'
import type { Pool } from 'pg'
import { Failure } from '../../src/errors.ts'
import { failureOf, inTransaction, type Sql } from '../../src/tables/sql.ts'
import { Answered, type Request, type Travelling } from '../execute/road.ts'

type Reply = ConstructorParameters<typeof Answered>[1]

/** However many come at once: the connections are there for executions. */
const AT_ONCE = 2

/** Rare, and worth a commit of its own: one that fails takes no other with it. */
export function answerEach(
  batch: readonly Travelling[],
  work: (request: Request) => Promise<Reply>,
): Promise<Answered[]> {
  return pLimit(AT_ONCE).map(
    batch,
    async ({ request }) => new Answered(request, await work(request).catch(failureOf)),
  )
}

/** Runs `work` in one transaction, which is rolled back where it ends in a failure: a refusal consumes nothing. */
export async function allOrNothing<T>(
  pool: Pool,
  work: (sql: Sql) => Promise<T | Failure>,
): Promise<T | Failure> {
  let refused: Failure | undefined
  try {
    return await inTransaction(pool, async (sql) => {
      const result = await work(sql)
      if (!(result instanceof Failure)) return result
      refused = result
      throw new Error('refused')
    })
  } catch (error) {
    if (refused !== undefined) return refused
    throw error
  }
}
