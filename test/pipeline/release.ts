// Another process that consumes a nonce. Takes the database's URL, the id and the nonce; prints the ids released.
import { Pool } from 'pg'
import { releaseIntents } from '../../src/store/tables/execution-intents.ts'
import { unlogged } from '../../src/store/tables/log-queue.ts'
import { classify } from '../../src/store/postgres/sql-errors.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'

const [url, businessTransactionId = '', nonce = ''] = process.argv.slice(2)
const pool = new Pool({ connectionString: url })
const intent = { businessTransactionId, nonce, inDoubtAfterMs: 0, ...unlogged }
try {
  await inTransaction(pool, (transaction) => transaction.run(releaseIntents([intent])))
  console.log(JSON.stringify([businessTransactionId]))
} catch (error) {
  if (classify(error).kind !== 'taken') throw error
  console.log('[]')
}
await pool.end()
