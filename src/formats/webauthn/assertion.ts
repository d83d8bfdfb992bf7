// The assertion that a passkey signs in place of the bytes that a raw key signs (Web Authentication Level 3 §7.2): its challenge is
// the SHA-256 of those bytes. Browser-safe: the service, the offline verifier and its page make the same checks in the same order.
import type { Json } from '../json/canonical.ts'
import { parseJsonText } from '../json/text.ts'
import { base64, toBase64 } from '../base64.ts'
import { isMembers, type Members } from '../json/members.ts'

/** The names under which passkeys sign, and the kind of key that each needs. */
const ALGORITHMS = { 'webauthn-es256': 'es256', 'webauthn-ed25519': 'ed25519' } as const

export type PasskeyAlgorithm = keyof typeof ALGORITHMS

/** The members of a passkey that are stored with its public key, and published with it. */
export interface Passkey {
  readonly rpId: string
  /** The origins at which it may sign, such as `https://console.example`; at least one. */
  readonly origins: readonly string[]
  /** Whether the passkey can be copied to other devices; this never changes. */
  readonly backupEligible: boolean
}

export function isPasskeyAlgorithm(algorithm: string): algorithm is PasskeyAlgorithm {
  return Object.hasOwn(ALGORITHMS, algorithm)
}

export function keyAlgorithmOf(algorithm: PasskeyAlgorithm): 'es256' | 'ed25519' {
  return ALGORITHMS[algorithm]
}

/**
 * @returns the three members that matter, in published form; others, such as the credential's id, are left out
 * @throws Error that names the wrong member
 */
export function readPasskey(value: Json | undefined): Passkey {
  if (!isMembers(value)) throw new Error('passkey is not an object')
  const { rpId, origins, backupEligible } = value
  if (typeof rpId !== 'string' || rpId === '') throw new Error('passkey.rpId is not a name')
  if (!Array.isArray(origins) || origins.length === 0) throw new Error('passkey.origins is not a list')
  const names = (origins as readonly Json[]).filter((origin) => typeof origin === 'string' && origin !== '')
  if (names.length < origins.length) throw new Error('passkey.origins holds something else than origins')
  if (typeof backupEligible !== 'boolean') throw new Error('passkey.backupEligible is not true or false')
  return { rpId, origins: names as string[], backupEligible }
}

/** Flags of the authenticator data (§6.1). */
const UP = 0x01
const UV = 0x04
const BE = 0x08
const BS = 0x10
const AT = 0x40
const ED = 0x80
/** SHA-256 of the rpId, the flags and the counter; extensions and credentials would follow. */
const AUTHENTICATOR_DATA_BYTES = 37

interface Expected {
  /** The bytes that a raw key would sign. */
  readonly message: Uint8Array
  /** Undefined: the key is not given, so that only mistakes that do not depend on the key are found. */
  readonly passkey: Passkey | undefined
  readonly sha256: (bytes: Uint8Array) => Uint8Array
}

/**
 * Every check of an assertion except the signature.
 * @param webauthn `{authenticatorData, clientDataJSON}`, both Base64, of any shape
 * @returns the bytes that the passkey's signature must cover
 * @throws Error that names the failed check
 */
export function assertedBytes(
  webauthn: Json | undefined,
  { message, passkey, sha256 }: Expected,
): Uint8Array {
  if (!isMembers(webauthn)) throw new Error('webauthn is missing')
  const authenticatorData = bytesOf(webauthn, 'authenticatorData')
  const clientDataJSON = bytesOf(webauthn, 'clientDataJSON')
  requireClientData(clientData(clientDataJSON), challengeOf(message, sha256), passkey)
  requireAuthenticatorData(authenticatorData, passkey, sha256)
  const signed = new Uint8Array(AUTHENTICATOR_DATA_BYTES + 32)
  signed.set(authenticatorData)
  signed.set(sha256(clientDataJSON), AUTHENTICATOR_DATA_BYTES)
  return signed
}

/** The challenge for a passkey, in the form of the client data: base64url without padding. */
function challengeOf(message: Uint8Array, sha256: Expected['sha256']): string {
  return toBase64(sha256(message)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function bytesOf(webauthn: Members, name: 'authenticatorData' | 'clientDataJSON'): Uint8Array {
  const text = webauthn[name]
  const bytes = typeof text === 'string' ? base64(text) : undefined
  if (bytes === undefined) throw new Error(`webauthn.${name} is not canonical base64`)
  return bytes
}

/** Client data is flat, but browsers may add members, and have done so. */
const DEPTH_MAX = 8

function clientData(bytes: Uint8Array): Members {
  let value: unknown
  try {
    // A BOM is kept, so that the parser refuses it.
    value = parseJsonText(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), DEPTH_MAX)
  } catch {
    throw new Error('the client data is not JSON with exactly one reading')
  }
  if (!isMembers(value as Json)) throw new Error('the client data is not an object')
  return value as Members
}

function requireClientData(data: Members, due: string, passkey: Passkey | undefined): void {
  const { type, challenge, origin, crossOrigin } = data
  if (type !== 'webauthn.get') throw new Error('the passkey was not asked to sign: the type is another one')
  if (challenge !== due) throw new Error('the passkey signed another challenge')
  if (typeof origin !== 'string') throw new Error('the client data has no origin')
  if (passkey !== undefined && !passkey.origins.includes(origin))
    throw new Error("the passkey signed at an origin that is not one of the key's")
  if ((crossOrigin !== undefined && crossOrigin !== false) || 'topOrigin' in data)
    throw new Error("the passkey signed inside another site's page")
}

function requireAuthenticatorData(
  data: Uint8Array,
  passkey: Passkey | undefined,
  sha256: Expected['sha256'],
): void {
  if (data.length !== AUTHENTICATOR_DATA_BYTES)
    throw new Error(
      `the authenticator data has ${data.length} bytes, and must have ${AUTHENTICATOR_DATA_BYTES}`,
    )
  if (passkey !== undefined) {
    const rpIdHash = sha256(new TextEncoder().encode(passkey.rpId))
    if (!rpIdHash.every((byte, i) => data[i] === byte))
      throw new Error("the passkey signed for another rpId than the key's")
  }
  const flags = data[32] ?? 0
  if ((flags & UP) === 0) throw new Error('nobody was present when the passkey signed (UP)')
  if ((flags & UV) === 0) throw new Error('the passkey did not verify its user (UV)')
  if ((flags & (AT | ED)) !== 0) throw new Error('the authenticator data announces more than it may hold')
  if (passkey !== undefined && ((flags & BE) !== 0) !== passkey.backupEligible)
    throw new Error('whether the passkey can be copied is not as it was enrolled (BE)')
  if ((flags & BS) !== 0 && (flags & BE) === 0)
    throw new Error('the passkey was copied and says that it cannot be (BS without BE)')
}
