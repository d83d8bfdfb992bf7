// Requests outside the load: single calls, the caller's own identity, and the two humans who put a policy and an external
// connector into effect the way an operator's do (decisions §7).
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { makeRawKey } from '../src/core/callers.ts'
import { canonicalize } from '../src/core/json/canonical.ts'
import { ed25519SigningKey, type SigningKey } from '../src/core/signing/keys.ts'
import { sha256Hex } from '../src/core/signing/sha256.ts'
import { signEd25519 } from '../src/core/signing/signature.ts'
import type { Subject } from './scenario.ts'
import type { TransactionOptions } from './transaction.ts'

interface CallOptions {
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Any other status is thrown. */
  readonly expect?: number
}

/** @throws Error that quotes the answer, where `expect` is given and it has another status */
export async function call(
  { url, key }: Pick<Subject, 'url' | 'key'>,
  method: 'GET' | 'POST',
  path: string,
  { body, headers = {}, expect }: CallOptions = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url + path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  const { status } = response
  const text = await response.text()
  if (expect !== undefined && status !== expect)
    throw new Error(`${method} ${path} answered ${status} in place of ${expect}: ${text.slice(0, 500)}`)
  return { status, text, headers: response.headers }
}

/**
 * A deployment, asked who the caller is: a transaction may only name a principal that is the caller's.
 *
 * @throws Error with a sentence where it cannot be reached or does not know the key
 */
export async function deployment(
  { url, key }: { url: string; key: string },
  transaction: TransactionOptions,
): Promise<Subject> {
  const origin = url.replace(/\/+$/, '')
  const subject: Subject = { url: origin, key, transaction, own: undefined }
  const { status, text } = await call(subject, 'GET', '/callers/me').catch((error: unknown) => {
    // fetch itself only says that it failed.
    const { cause } = error as Error
    throw new Error(`${origin} cannot be reached: ${String(cause)}`, { cause: error })
  })
  const principal = status === 200 ? answered(text).allowedPrincipalIds?.[0] : undefined
  if (principal === undefined) throw new Error(`GET ${origin}/callers/me answered ${status}: ${text}`)
  const isOwn = transaction.principal !== undefined || transaction.transaction !== undefined
  const { version } = answered((await call(subject, 'GET', '/version')).text)
  return { ...subject, version, transaction: isOwn ? transaction : { ...transaction, principal } }
}

/** Nothing where it is no answer of such a service. */
function answered(text: string): { allowedPrincipalIds?: string[]; version?: string } {
  try {
    return (JSON.parse(text) as ReturnType<typeof answered> | null) ?? {}
  } catch {
    return {}
  }
}

export interface Human {
  /** Of SERVICE_API_KEYS. */
  readonly entry: object
  /** Raw API key. */
  readonly key: string
  readonly stepUp: SigningKey
}

function aHuman(callerId: string): Human {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = makeRawKey()
  return {
    key,
    entry: {
      callerId,
      keyHash: sha256Hex(key),
      credentialHolderType: 'USER',
      stepUpPublicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    },
    stepUp: ed25519SigningKey('step-up', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  }
}

/** Callers of every service that the bench starts. */
export const humans = { maker: aHuman('bench-maker'), checker: aHuman('bench-checker') }

export interface Change {
  readonly changeId: string
  readonly changeHash: string
}

/** The checker's signature under the resolution of a change. */
export function stepUpFor({ stepUp: key }: Human, { changeId, changeHash }: Change, action: string) {
  const now = Date.now()
  const payload = {
    version: 1,
    nonce: randomBytes(16).toString('hex'),
    changeId,
    changeHash,
    action,
    authorizedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 60_000).toISOString(),
  }
  const { value } = signEd25519('step-up', canonicalize(payload), key)
  return { payload, keyId: 'step-up', algorithm: 'ed25519', signature: value }
}

/** A policy document for `capability` that approves what `signals.approved` says. */
export function aPolicy(
  { name, version }: { name: string; version: string },
  capability: string,
  more: object = {},
) {
  return {
    policyId: name,
    policyVersion: version,
    schemaVersion: '1.0.0',
    description: 'A policy of the bench.',
    capabilities: [capability],
    signals: { approved: 'boolean', amount: 'number' },
    bindings: { amount: 'intent.parameters.amount' },
    rules: [
      { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved in the bench.' },
    ],
    ...more,
  }
}

/** Puts a policy and an external connector for it into effect: one human proposes, the other approves with a signature. */
export async function registerConnector(
  { url }: Subject,
  { capability, policy, endpointUrl }: { capability: string; policy: string; endpointUrl: string },
): Promise<void> {
  const { maker, checker } = humans
  const inEffect = async (propose: string, resolve: string, proposal: object) => {
    const body = JSON.stringify({ reason: 'measurement', ...proposal })
    const { text } = await call({ url, key: maker.key }, 'POST', propose, { body, expect: 201 })
    const change = JSON.parse(text) as Change
    const approval = JSON.stringify({ stepUpAuthorization: stepUpFor(checker, change, 'approve') })
    const path = `${resolve}/${change.changeId}/approve`
    await call({ url, key: checker.key }, 'POST', path, { body: approval, expect: 200 })
  }
  const version = '1.0.0'
  await inEffect(`/policies/${policy}/${version}/pending-changes`, '/policies/pending-changes', {
    proposedContent: aPolicy({ name: policy, version }, capability),
  })
  await inEffect('/external-connectors/changes', '/external-connectors/changes', {
    action: 'register',
    capability,
    endpointUrl,
    policy,
    allowedParameters: ['amount', 'currency', 'reference'],
  })
}
