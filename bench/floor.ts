// The floor: the work that no implementation of one execution can avoid, as a program of its own against the same PostgreSQL
// (docs/design-notes.md "Performance"). A batch is BATCH executions, one after another on one connection, and each of them does exactly:
//
//   parse        JSON.parse of the request's UTF-8 bytes
//   sign  3      Ed25519 (libsodium) of an execution authorization, a record, a receipt; each text is encoded to UTF-8 first
//   verify 2     Ed25519 of the authorization and of the record
//   SHA-256 5    of the parameters, the signals, the connector's result, the record and the receipt
//   insert 2     rows (uuid primary key, text), one statement and one commit for each kind of row of the batch, fsync on:
//                the rows that must be durable before a connector may be called (transaction and authorization), and the evidence
//                after it (record without those two, its hash and signature, verification, receipt); whole rows in one page each, which
//                was measured at 57 µs of PostgreSQL's CPU to 65 with a TOAST table
//
// The texts are those that the service stored for one of its executions. Left out, because they are choices of design: HTTP,
// authentication, limits, threads, logs, canonicalization, policy, every further row, index and state.
import { randomUUID, hash } from 'node:crypto'
import { Client } from 'pg'
import { secretKeyOf, sign, verify } from '../src/core/signing/ed25519.ts'
import { sendStatements } from '../src/store/postgres/statement-batch.ts'
import { overRows } from '../src/store/postgres/rows.ts'

export interface FloorJob {
  readonly databaseUrl: string
  readonly seconds: number
  readonly texts: ExecutionTexts
}

/** The texts that one execution received, signed and stored. */
export interface ExecutionTexts {
  readonly request: string
  readonly transaction: string
  readonly authorization: string
  readonly record: string
  /** The record as it is stored: without the two texts above. */
  readonly storedRecord: string
  readonly seal: string
  readonly verification: string
  readonly receipt: string
}

export interface FloorResult {
  readonly executions: number
  readonly seconds: number
  /** The CPU time of the program itself per execution. */
  readonly cpuMicros: number
}

/** Executions that share a commit. */
const BATCH = 64

/** Tables in a schema of their own, because they are no part of the service's storage. */
const claims = rowsOf('floor.claims')
const evidence = rowsOf('floor.evidence')

process.on('message', (job: FloorJob) => void floor(job).then((result) => process.send?.({ result })))

/** Kept from job to job, because the CPU time of a backend that ends between two samples is lost. */
let connection: Promise<Client> | undefined

async function connected(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('CREATE SCHEMA IF NOT EXISTS floor')
  for (const { table } of [claims, evidence])
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${table} (id uuid PRIMARY KEY, bytes text STORAGE EXTERNAL NOT NULL)
        WITH (toast_tuple_target = 8160)`,
    )
  return client
}

async function floor({ databaseUrl, seconds, texts }: FloorJob): Promise<FloorResult> {
  const client = await (connection ??= connected(databaseUrl))
  const stored = {
    claim: texts.transaction + texts.authorization,
    evidence: texts.storedRecord + texts.seal + texts.verification + texts.receipt,
  }
  const request = Buffer.from(texts.request)
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  let executions = 0
  while (performance.now() - startMs < seconds * 1000) {
    const ids = Array.from({ length: BATCH }, () => randomUUID()).toSorted()
    for (let i = 0; i < BATCH; i++) computeOne(request, texts)
    const rows = (bytes: string) => ids.map((id) => ({ id, bytes }))
    await sendStatements(client, claims.insert(rows(stored.claim)))
    await sendStatements(client, evidence.insert(rows(stored.evidence)))
    executions += BATCH
  }
  const { user, system } = process.cpuUsage(startCpu)
  return {
    executions,
    seconds: (performance.now() - startMs) / 1000,
    cpuMicros: (user + system) / executions,
  }
}

interface Row {
  readonly id: string
  readonly bytes: string
}

function rowsOf(table: string) {
  return {
    table,
    insert: overRows<Row>({
      name: table,
      text: `INSERT INTO ${table} ($columns) VALUES $rows`,
      columns: {
        id: ['uuid', ({ id }) => id],
        bytes: ['text', ({ bytes }) => bytes],
      },
    }),
  }
}

const secretKey = secretKeyOf(Buffer.alloc(32, 7))
const publicKey = secretKey.subarray(32)

function computeOne(request: Buffer, { authorization, record, receipt }: ExecutionTexts): void {
  const { intent, signals } = JSON.parse(request.toString()) as {
    intent: { parameters: object }
    signals: object
  }
  const parameters = JSON.stringify(intent.parameters)
  for (const text of [parameters, JSON.stringify(signals), parameters, record, receipt])
    hash('sha256', text, 'hex')

  const [authorizationBytes, recordBytes, receiptBytes] = [
    Buffer.from(authorization),
    Buffer.from(record),
    Buffer.from(receipt),
  ]
  const authorizationSignature = sign({ message: authorizationBytes, secretKey })
  const recordSignature = sign({ message: recordBytes, secretKey })
  sign({ message: receiptBytes, secretKey })
  if (
    !verify({ message: authorizationBytes, signature: authorizationSignature, publicKey }) ||
    !verify({ message: recordBytes, signature: recordSignature, publicKey })
  )
    throw new Error('a signature does not verify')
}
