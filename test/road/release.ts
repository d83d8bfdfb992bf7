// Another process that consumes a nonce. Takes the database's URL, the id and the nonce; prints the ids released.
import { Client } from 'pg'
import { releaseIntents } from '../../src/tables/execution-intents.ts'
import { isTaken } from '../../src/tables/sql.ts'

const [url, businessTransactionId = '', nonce = ''] = process.argv.slice(2)
const sql = new Client({ connectionString: url })
await sql.connect()
const deadline = new Date().toISOString()
try {
  await releaseIntents(sql, [{ businessTransactionId, nonce, deadline }])
  console.log(JSON.stringify([businessTransactionId]))
} catch (error) {
  if (!isTaken(error)) throw error
  console.log('[]')
}
await sql.end()
