// Checks evidence with the published format (decisions §4) and node:crypto alone. Not a line is shared with the server, so a
// mistake there cannot hide here. Keys come from the published key set, never from the evidence.
import { createPublicKey, hash, verify, type JsonWebKey } from 'node:crypto'

/** An entry of GET /.well-known/jwks.json (interface §2.7). */
export interface PublishedKey {
  readonly keyId: string
  readonly pem: string
  readonly jwk?: JsonWebKey
}

/** One check of a piece of evidence: what it looked at, what a pass proves, and whether it passed. */
export interface Check {
  readonly name: string
  readonly proves: string
  readonly holds: boolean
}

/** A parsed JSON object. Reading a member that is not there, or is no object, throws: the check that needed it fails. */
export type Members = Readonly<Record<string, unknown>>

/** Execution Trust Record: its own hash and signature, and the authorization inside it. */
export function checkTrustRecord(record: Members, keys: readonly PublishedKey[]): Check[] {
  const authorization = () => record['authorization'] as Members
  return [
    check('hash', 'these are the bytes that trustRecordHash names', () => {
      return recordHash(record) === record['trustRecordHash']
    }),
    check('signature', 'a published key signed them as a trust-record', () =>
      carriedSignatures(record, record['signature'] as Signature).every((signature) =>
        isSigned('trust-record', recordBytes(record), signature, keys),
      ),
    ),
    check('authorization', 'a published key authorized the execution', () => {
      const { payload, keyId, algorithm, signature } = authorization()
      const carried = { keyId, algorithm, value: signature } as Signature
      return isSigned('execution-authorization', canonical(payload), carried, keys)
    }),
    check('binding', 'it is for exactly this intent and these signals', () =>
      isBound(record, authorization()['payload'] as Members),
    ),
  ]
}

/** Receipt: its own hash and signature, and that it is this record's, whose hash is computed and not believed. */
export function checkReceipt(receipt: Members, record: Members, keys: readonly PublishedKey[]): Check[] {
  const { signature, signatures: _, ...signed } = receipt
  const { receiptHash, ...hashed } = signed
  return [
    check('hash', 'these are the bytes that receiptHash names', () => {
      return sha256(canonical(hashed)) === receiptHash
    }),
    check('signature', 'a published key signed them as a receipt', () => {
      const { keyId, algorithm } = receipt
      return carriedSignatures(receipt, { keyId, algorithm, value: signature } as Signature).every(
        (carried) => isSigned('receipt', canonical(signed), carried, keys),
      )
    }),
    check('record', 'it is the receipt of this very record', () => {
      return recordHash(record) === receipt['trustRecordHash']
    }),
  ]
}

/** Refusal Record: its own hash and signature. */
export function checkRefusal(refusal: Members, keys: readonly PublishedKey[]): Check[] {
  const { refusalRecordHash, signature, ...signed } = refusal
  return [
    check('hash', 'these are the bytes that refusalRecordHash names', () => {
      return sha256(canonical(signed)) === refusalRecordHash
    }),
    check('signature', 'a published key signed them as a refusal-record', () =>
      isSigned('refusal-record', canonical(signed), signature as Signature, keys),
    ),
  ]
}

/** What trustRecordHash and the record's signature cover (decisions §4 "Hash"); the last one stands in hybrid records only. */
const RECORD_MEMBERS = [
  'trustRecordId',
  'businessTransactionId',
  'transaction',
  'authorization',
  'executions',
  'overrides',
  'createdAt',
  'requiredAlgorithms',
]

function recordBytes(record: Members): string {
  return canonical(
    Object.fromEntries(Object.entries(record).filter(([name]) => RECORD_MEMBERS.includes(name))),
  )
}

/** The trustRecordHash that a record should have: 64 lowercase hex characters. */
export function recordHash(record: Members): string {
  return sha256(recordBytes(record))
}

interface Signature {
  readonly algorithm: string
  readonly keyId: string
  /** Base64. */
  readonly value: string
}

/** All that must hold: a hybrid names its algorithms in its signed bytes and carries one signature of each, so none can be stripped. */
function carriedSignatures(evidence: Members, first: Signature): Signature[] {
  if (!('requiredAlgorithms' in evidence)) return [first]
  const signatures = evidence['signatures'] as Signature[]
  const carried = signatures.map(({ algorithm }) => algorithm)
  if (canonical(carried) !== canonical(evidence['requiredAlgorithms'])) throw new Error('one is missing')
  return [first, ...signatures]
}

function isSigned(
  artifact: string,
  signed: string,
  signature: Signature,
  keys: readonly PublishedKey[],
): boolean {
  const published = keys.find(({ keyId }) => keyId === signature.keyId)
  if (published === undefined) return false
  const { jwk, pem } = published
  const key = createPublicKey(jwk === undefined ? pem : { format: 'jwk', key: jwk })
  const bytes = Buffer.from(signature.value, 'base64')
  return (
    key.asymmetricKeyType === signature.algorithm &&
    bytes.toString('base64') === signature.value && // one text for one signature
    verify(null, preAuthEncoding(artifact, signed), key, bytes)
  )
}

/** The authorization inside a record is for what the record says was asked, decided and done. */
function isBound(record: Members, payload: Members): boolean {
  const { businessTransactionId, intent, signals } = record['transaction'] as Members
  const executions = record['executions'] as { decision: Members; evidence: Members }[]
  const bound = payload['businessTransactionHash']
  return (
    record['businessTransactionId'] === payload['businessTransactionId'] &&
    executionHash({ ...(intent as Members), businessTransactionId }) === bound &&
    sha256(canonical(signals)) === payload['signalsHash'] &&
    executions.length > 0 &&
    executions.every(
      ({ decision, evidence }) =>
        decision['decisionId'] === payload['decisionId'] &&
        decision['outcome'] === 'APPROVED' &&
        executionHash(evidence) === bound,
    )
  )
}

function executionHash({ businessTransactionId, action, target, parameters }: Members): string {
  return sha256(canonical({ businessTransactionId, action, target, parameters }))
}

/** DSSE: the signed bytes begin with what they are, so that a signature of one artifact is none of another. */
function preAuthEncoding(artifact: string, body: string): Buffer {
  const type = `application/vnd.countersign.${artifact}.v1+json`
  return Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${Buffer.byteLength(body)} ${body}`)
}

/** RFC 8785 of a parsed value: members sorted by UTF-16 code units; strings and numbers are as JSON.stringify writes them. */
export function canonical(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('a number that JSON cannot write')
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = value as Members
  const names = Object.keys(members).toSorted()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(members[name])}`).join(',')}}`
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

function check(name: string, proves: string, holds: () => boolean): Check {
  try {
    return { name, proves, holds: holds() }
  } catch {
    return { name, proves, holds: false }
  }
}
