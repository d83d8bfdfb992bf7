// What must be true before a figure is printed: what was answered is stored, nothing is in doubt, and a sample verifies offline
// with what is published: node:crypto, RFC 8785 and decisions §4, none of the service's own verification.
import { createHash, createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto'
import { Client } from 'pg'
import { canonicalize, type Json } from '../src/canonical.ts'

type Members = { readonly [name: string]: Json }
export type PublishedKeys = ReadonlyMap<string, KeyObject>

/**
 * Checks what a service keeps after `executions` of its executions were answered 200.
 * out  sample    how many records and receipts were verified, picked at random
 *      problems  everything that is not as it must be
 */
export async function checkEvidence(
  service: { readonly url: string; readonly key: string; readonly databaseUrl: string },
  { executions, sampleSize }: { executions: number; sampleSize: number },
): Promise<{ sample: number; problems: string[] }> {
  const { counts, sample } = await readDatabase(service.databaseUrl, sampleSize)
  const miscounted = counts
    .filter(({ count }) => count !== executions)
    .map(({ what, count }) => `${count} ${what}, but ${executions} executions were answered 200`)
  const keys = await publishedKeys(service.url)
  const unproven: string[] = []
  for (const id of sample) {
    const response = await fetch(`${service.url}/trust-records/${id}`, {
      headers: { Authorization: `Bearer ${service.key}` },
    })
    const record = (await response.json()) as Members
    const problems =
      record['businessTransactionId'] === id ? checkRecord(record, keys) : [`answered ${response.status}`]
    unproven.push(...problems.map((problem) => `trust record ${id}: ${problem}`))
  }
  const unseen = sample.length === 0 ? ['there is no record to verify'] : []
  return { sample: sample.length, problems: [...miscounted, ...unproven, ...unseen] }
}

async function readDatabase(databaseUrl: string, sampleSize: number) {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: counts } = await client.query<{ what: string; count: number }>(`
      SELECT 'trust records' AS what, count(*)::integer AS count FROM trust_records
      UNION ALL SELECT 'receipts', count(*)::integer FROM receipts
      UNION ALL SELECT 'intents FINALIZED', count(*)::integer FROM execution_intents WHERE state = 'FINALIZED'
      UNION ALL SELECT 'intents in any state', count(*)::integer FROM execution_intents`)
    const { rows } = await client.query<{ id: string }>(
      `SELECT business_transaction_id AS id FROM trust_records ORDER BY random() LIMIT $1::integer`,
      [sampleSize],
    )
    return { counts, sample: rows.map(({ id }) => id) }
  } finally {
    await client.end()
  }
}

/** GET /.well-known/jwks.json, by keyId. */
export async function publishedKeys(url: string): Promise<PublishedKeys> {
  const response = await fetch(`${url}/.well-known/jwks.json`)
  const { keys } = (await response.json()) as {
    keys: { keyId: string; algorithm: string; jwk: JsonWebKey }[]
  }
  return new Map(
    keys
      .filter(({ algorithm }) => algorithm === 'ed25519')
      .map(({ keyId, jwk }) => [keyId, createPublicKey({ key: jwk, format: 'jwk' })]),
  )
}

/** What does not hold of an Execution Trust Record as GET /trust-records/{id} answers it, signed with Ed25519 alone. */
export function checkRecord(record: Members, keys: PublishedKeys): string[] {
  const { trustRecordHash, signature, verifications, receipts, ...signed } = record
  const { payload, ...authorization } = members(signed['authorization'])
  const { signature: receiptSignature, ...signedReceipt } = members(last(receipts))
  const { receiptHash, ...unhashedReceipt } = signedReceipt
  const { keyId, value } = members(signature)
  const holds: Record<string, boolean> = {
    'the record has its hash': sha256(canonicalize(signed)) === trustRecordHash,
    'the record is signed': isSigned('trust-record', signed, { keyId, value }, keys),
    'the authorization is signed': isSigned(
      'execution-authorization',
      members(payload),
      { keyId: authorization['keyId'], value: authorization['signature'] },
      keys,
    ),
    'the authorization is for this transaction':
      members(payload)['businessTransactionId'] === record['businessTransactionId'],
    'the record was verified': members(last(verifications))['status'] === 'VERIFIED',
    'the receipt has its hash': sha256(canonicalize(unhashedReceipt)) === receiptHash,
    'the receipt is signed': isSigned(
      'receipt',
      signedReceipt,
      { keyId: signedReceipt['keyId'], value: receiptSignature },
      keys,
    ),
    'the receipt is for this record': signedReceipt['trustRecordHash'] === trustRecordHash,
  }
  return Object.keys(holds).flatMap((name) => (holds[name] ? [] : `it does not hold that ${name}`))
}

/** Ed25519 over the DSSE pre-authentication encoding (decisions §4 "Signature"). */
function isSigned(
  artifact: string,
  signed: Members,
  { keyId, value }: { keyId: Json | undefined; value: Json | undefined },
  keys: PublishedKeys,
): boolean {
  const key = typeof keyId === 'string' ? keys.get(keyId) : undefined
  if (key === undefined || typeof value !== 'string') return false
  const type = `application/vnd.countersign.${artifact}.v1+json`
  const text = canonicalize(signed)
  const message = `DSSEv1 ${type.length} ${type} ${Buffer.byteLength(text)} ${text}`
  return verify(null, Buffer.from(message), key, Buffer.from(value, 'base64'))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function members(value: Json | undefined): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}

function last(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? (value as readonly Json[]).at(-1) : undefined
}
