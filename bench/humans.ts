// Two humans of the bench's own, who register an external connector the way an operator's do: one proposes, the other approves
// with a signature (decisions §7).
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { canonicalize } from '../src/core/json/canonical.ts'
import { makeRawKey } from '../src/core/config.ts'
import { ed25519SigningKey, type SigningKey } from '../src/core/signing/keys.ts'
import { sha256Hex } from '../src/core/signing/sha256.ts'
import { signEd25519 } from '../src/core/signing/signature.ts'
import { call } from './subject.ts'

export interface Human {
  /** Of SERVICE_API_KEYS. */
  readonly entry: object
  /** Raw API key. */
  readonly key: string
  readonly stepUp: SigningKey
}

export function aHuman(callerId: string): Human {
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

const CHANGES = '/external-connectors/changes'

/** Registers it and puts it in effect. fails with what was answered in place of 201 and 200 */
export async function registerConnector(
  url: string,
  { maker, checker }: { maker: Human; checker: Human },
  registration: object,
): Promise<void> {
  const body = { action: 'register', reason: 'measurement', ...registration }
  const proposed = await call({ url, key: maker.key }, 'POST', CHANGES, JSON.stringify(body))
  if (proposed.status !== 201)
    throw new Error(`POST ${CHANGES} answered ${proposed.status}: ${proposed.text}`)
  const { changeId, changeHash } = JSON.parse(proposed.text) as { changeId: string; changeHash: string }
  const path = `${CHANGES}/${changeId}/approve`
  const stepUpAuthorization = stepUp(checker, { changeId, changeHash })
  const approved = await call(
    { url, key: checker.key },
    'POST',
    path,
    JSON.stringify({ stepUpAuthorization }),
  )
  if (approved.status !== 200) throw new Error(`POST ${path} answered ${approved.status}: ${approved.text}`)
}

function stepUp({ stepUp: key }: Human, change: { changeId: string; changeHash: string }) {
  const now = Date.now()
  const payload = {
    version: 1,
    nonce: randomBytes(16).toString('hex'),
    ...change,
    action: 'approve',
    authorizedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 60_000).toISOString(),
  }
  const { value } = signEd25519('step-up', canonicalize(payload), key)
  return { payload, keyId: 'step-up', algorithm: 'ed25519', signature: value }
}
