// Another process that consumes a nonce. Takes the database's URL and the id; prints the ids released.
import { Pool } from 'pg'
import { releaseBatches } from '../../src/store/tables/released-batches.ts'
import { classify } from '../../src/store/postgres/sql-errors.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'

const [url, id = ''] = process.argv.slice(2)
const pool = new Pool({ connectionString: url })
try {
  await inTransaction(pool, (transaction) =>
    transaction.run(releaseBatches([{ batch: id, ids: [id], inDoubtAfterMs: 0 }])),
  )
  console.log(JSON.stringify([id]))
} catch (error) {
  if (classify(error).kind !== 'taken') throw error
  console.log('[]')
}
await pool.end()
