// A yardstick: the same execution written the way one would first write it. One node:http process, one database transaction for
// each request, one row at a time: parse, check, sign, insert, respond. It keeps what matters (unique ids, evidence that is signed,
// verified and durable before the answer) and leaves out what Countersign does besides: a commit before the connector is called,
// policies as documents, limits, backpressure, a log, and careful parsing.
import { createHash, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseError, Pool } from 'pg'
import { canonicalize, type Json } from '../src/core/json/canonical.ts'

export interface NaiveJob {
  readonly databaseUrl: string
  /** Raw API key of its one caller. */
  readonly key: string
}

export interface NaiveReady {
  readonly url: string
  readonly pid: number
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const UNIQUE_VIOLATION = '23505'
const KEY_ID = 'naive-ed25519'
const { privateKey, publicKey } = generateKeyPairSync('ed25519')

const TABLES = `
  CREATE TABLE IF NOT EXISTS naive_transactions (id uuid PRIMARY KEY, created_at timestamptz, body text);
  CREATE TABLE IF NOT EXISTS naive_intents (id uuid PRIMARY KEY, nonce text UNIQUE, state text);
  CREATE TABLE IF NOT EXISTS naive_records (id uuid PRIMARY KEY, created_at timestamptz, body text);
  CREATE TABLE IF NOT EXISTS naive_verifications (id uuid, ordinal integer, body text, PRIMARY KEY (id, ordinal));
  CREATE TABLE IF NOT EXISTS naive_receipts (id uuid, ordinal integer, body text, PRIMARY KEY (id, ordinal));`

/** Of interface §2.1, as far as it is read here. */
interface Transaction {
  readonly [member: string]: Json
  readonly businessTransactionId: string
  readonly metadata: { readonly businessTransactionId: string }
  readonly authority: { readonly authorityId: string }
  readonly authorization: { readonly authorizationId: string; readonly authorityId: string }
  readonly intent: {
    readonly authorizationId: string
    readonly intentId: string
    readonly action: string
    readonly target: string
    readonly parameters: { readonly amount: number }
  }
  readonly policy: { readonly name: string; readonly version: string }
  readonly signals: { readonly approved: boolean; readonly amount: number }
}

type Reply = { readonly status: number; readonly body: Json }

process.on('message', (job: NaiveJob) => void start(job))

async function start({ databaseUrl, key }: NaiveJob): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl, max: 16 })
  await pool.query(TABLES)
  const server = createServer((request, response) => {
    void execute(request, pool, key)
      .catch((error: unknown): Reply => ({ status: 500, body: { error: String(error) } }))
      .then(({ status, body }) =>
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body)),
      )
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
    const { port } = server.address() as AddressInfo
    process.send?.({ url: `http://127.0.0.1:${port}`, pid: process.pid } satisfies NaiveReady)
  })
}

async function execute(request: IncomingMessage, pool: Pool, key: string): Promise<Reply> {
  if (sha256(request.headers.authorization ?? '') !== sha256(`Bearer ${key}`))
    return { status: 401, body: { error: 'authentication required' } }
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const transaction = JSON.parse(Buffer.concat(chunks).toString()) as Transaction
  const problem = problemOf(transaction)
  if (problem !== undefined) return { status: 400, body: { error: problem } }

  const now = new Date().toISOString()
  const id = transaction.businessTransactionId
  const client = await pool.connect()
  const insert = (table: string, ...values: unknown[]) =>
    client.query(`INSERT INTO ${table} VALUES (${values.map((_, i) => `$${i + 1}`).join(', ')})`, values)
  try {
    await client.query('BEGIN')
    await insert('naive_transactions', id, now, JSON.stringify(transaction))
    // A rejection ends here, by a throw: the yardstick executes nothing but what is approved.
    const decision = decide(transaction, now)
    await insert('naive_intents', id, randomUUID(), 'RELEASED')
    const result = { echo: transaction.intent.parameters }
    const { record, verification, receipt } = evidence({ transaction, decision, result, now })
    await insert('naive_records', id, now, JSON.stringify(record))
    await insert('naive_verifications', id, 1, JSON.stringify(verification))
    await insert('naive_receipts', id, 1, JSON.stringify(receipt))
    await client.query(`UPDATE naive_intents SET state = 'FINALIZED' WHERE id = $1`, [id])
    await client.query('COMMIT')
    return {
      status: 200,
      body: { ...record, verifications: [verification], receipts: [receipt] } as unknown as Json,
    }
  } catch (error) {
    await client.query('ROLLBACK')
    if (error instanceof DatabaseError && error.code === UNIQUE_VIOLATION)
      return { status: 409, body: { error: `Business Transaction '${id}' already exists.` } }
    throw error
  } finally {
    client.release()
  }
}

interface Executed {
  readonly transaction: Transaction
  readonly decision: ReturnType<typeof decide>
  readonly result: Json
  readonly now: string
}

/** Three signatures, two verifications, as on the road that it stands beside. */
function evidence({ transaction, decision, result, now }: Executed) {
  const businessTransactionId = transaction.businessTransactionId
  const authorization = signed('execution-authorization', {
    version: 1,
    authorizationId: randomUUID(),
    nonce: randomUUID(),
    decisionId: decision.decisionId,
    businessTransactionId,
    businessTransactionHash: sha256(canonicalize(transaction.intent)),
    signalsHash: sha256(canonicalize(transaction.signals)),
    authorizedAt: now,
  })
  const responseHash = sha256(canonicalize(result))
  const execution = { executionId: randomUUID(), decision, status: 'COMPLETED', result, responseHash }
  const record = signed('trust-record', {
    trustRecordId: randomUUID(),
    businessTransactionId,
    transaction: { ...transaction, status: 'RECEIVED', createdAt: now },
    authorization: authorization as unknown as Json,
    executions: [execution],
    createdAt: now,
  })
  const trustRecordHash = sha256(canonicalize(record.payload))
  const holds = holdsFor('execution-authorization', authorization) && holdsFor('trust-record', record)
  const status = holds ? 'VERIFIED' : 'FAILED'
  const verification = { verificationId: randomUUID(), businessTransactionId, status, verifiedAt: now }
  const receiptId = randomUUID()
  const receipt = signed('receipt', { receiptId, businessTransactionId, trustRecordHash, issuedAt: now })
  return { record, verification: { ...verification, trustRecordHash }, receipt }
}

function problemOf(transaction: Transaction): string | undefined {
  const { businessTransactionId: id, metadata, authority, authorization, intent } = transaction
  if (!UUID.test(id)) return 'businessTransactionId must be a valid UUID.'
  if (metadata.businessTransactionId !== id) return 'metadata.businessTransactionId must match.'
  if (authorization.authorityId !== authority.authorityId) return 'authorization.authorityId must match.'
  if (intent.authorizationId !== authorization.authorizationId) return 'intent.authorizationId must match.'
  return undefined
}

/** sandbox-echo 1.0.0. */
function decide({ intent, policy, signals }: Transaction, evaluatedAt: string) {
  const isApproved = signals.amount === intent.parameters.amount && signals.amount <= 1000 && signals.approved
  if (!isApproved) throw new Error('Execution rejected.')
  return {
    decisionId: randomUUID(),
    intentId: intent.intentId,
    policy,
    signals,
    outcome: 'APPROVED',
    evaluatedAt,
  }
}

interface Signed {
  readonly payload: { readonly [member: string]: Json }
  readonly keyId: string
  readonly signature: string
}

function signed(artifact: string, payload: Signed['payload']): Signed {
  const signature = sign(null, message(artifact, payload), privateKey).toString('base64')
  return { payload, keyId: KEY_ID, signature }
}

function holdsFor(artifact: string, { payload, signature }: Signed): boolean {
  return verify(null, message(artifact, payload), publicKey, Buffer.from(signature, 'base64'))
}

function message(artifact: string, payload: Signed['payload']): Buffer {
  const type = `application/vnd.countersign.${artifact}.v1+json`
  const text = canonicalize(payload)
  return Buffer.from(`DSSEv1 ${type.length} ${type} ${Buffer.byteLength(text)} ${text}`)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
