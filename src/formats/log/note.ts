// C2SP signed-note v1.0.0: a text, a blank line, and a line for each signature. Browser-safe: hashing and signature checks are arguments.
import type { Sha256 } from '../merkle/tree.ts'
import { base64, toBase64 } from '../base64.ts'
import { concatBytes, toHex } from '../bytes.ts'

/** The known signature types of signed-note: the byte that names each, and the lengths of its keys and signatures. */
const TYPES = {
  /** Signs the text of the note. */
  ed25519: { byte: 0x01, algorithm: 'ed25519', publicKeyBytes: 32, signatureBytes: 64 },
  /** Signs a checkpoint with the time (tlog-cosignature): the signature follows 8 bytes of time. */
  'ed25519-cosignature': { byte: 0x04, algorithm: 'ed25519', publicKeyBytes: 32, signatureBytes: 8 + 64 },
  'ml-dsa-44-cosignature': {
    byte: 0x06,
    algorithm: 'ml-dsa-44',
    publicKeyBytes: 1312,
    signatureBytes: 8 + 2420,
  },
} as const

export type SignatureType = keyof typeof TYPES

/** The cryptography that the formats of the log need. */
export interface NoteCrypto {
  readonly sha256: Sha256
  /** For each algorithm, whether the signature is the key's over the message; false also for a signature of another length. */
  readonly verifies: Readonly<Record<'ed25519' | 'ml-dsa-44', (signed: SignedMessage) => boolean>>
}

interface SignedMessage {
  readonly message: Uint8Array
  readonly signature: Uint8Array
  readonly publicKey: Uint8Array
}

/** A public key and the name under which it signs notes. */
export interface VerifierKey {
  readonly name: string
  /** 8 lowercase hex digits; identifies the signing key together with the name. */
  readonly keyId: string
  readonly type: SignatureType
  readonly publicKey: Uint8Array
}

export interface SignatureLine {
  /** The name of the key. */
  readonly name: string
  /** 8 lowercase hex digits. */
  readonly keyId: string
  /** Without the key id; for a cosignature, the time and then the signature. */
  readonly signature: Uint8Array
}

export interface Note {
  /** Includes the last newline, but not the blank line after it. */
  readonly text: string
  readonly lines: readonly SignatureLine[]
}

/** More than the 16 that a verifier has to accept: a log's two lines, and witnesses. */
const MAX_LINES = 32

/** Not empty, without Unicode spaces and plus signs; control characters are refused with the whole note. */
// oxlint-disable-next-line no-control-regex -- a key's name comes from files too
const NAME = /^[^\p{White_Space}+\u0000-\u001f]+$/u

/**
 * @param note bytes, or text that was decoded from them
 * @throws Error with the reason why it is no signed note; does not check signatures
 */
export function parseNote(note: string | Uint8Array): Note {
  const whole = wellFormedText(note, 'the note')
  // The last blank line counts: the text itself may contain blank lines.
  const blank = whole.lastIndexOf('\n\n')
  if (blank === -1) throw new Error('the note has no blank line before its signatures')
  const signatures = whole.slice(blank + 2)
  if (!signatures.endsWith('\n'))
    throw new Error('the note does not end with a signature line and its newline')
  const lines = signatures.slice(0, -1).split('\n')
  if (lines.length > MAX_LINES)
    throw new Error(`the note has ${lines.length} signature lines; at most ${MAX_LINES} are read`)
  return { text: whole.slice(0, blank + 1), lines: lines.map(parseLine) }
}

/**
 * The text of a note, or of a file that contains a note.
 * @throws Error that names it as `what`, for bytes that are not UTF-8 and for control characters other than the newline
 */
export function wellFormedText(input: string | Uint8Array, what: string): string {
  const text = typeof input === 'string' ? input : decoded(input, what)
  if (!text.isWellFormed()) throw new Error(`${what} is not valid UTF-8`)
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (/[\u0000-\u0009\u000b-\u001f]/.test(text)) throw new Error(`${what} holds a control character`)
  return text
}

function decoded(bytes: Uint8Array, what: string): string {
  try {
    // A byte order mark belongs to the signed text, so it is kept.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error(`${what} is not valid UTF-8`)
  }
}

const LINE = /^— ([^ ]+) ([A-Za-z0-9+/=]+)$/

function parseLine(line: string, index: number): SignatureLine {
  const which = `signature line ${index + 1}`
  const [, name = '', text = ''] = LINE.exec(line) ?? []
  if (!NAME.test(name)) throw new Error(`${which} is not an em dash, a key name and a signature`)
  const bytes = base64(text)
  if (bytes === undefined) throw new Error(`${which} is not canonical base64`)
  if (bytes.length < 5) throw new Error(`${which} holds no more than a key id`)
  return { name, keyId: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) }
}

/**
 * @param text text with its last newline
 * @param lines results of `signatureLine`
 */
export function formatNote(text: string, lines: readonly string[]): string {
  return `${text}\n${lines.join('')}`
}

/** The line of a signature, including its newline. */
export function signatureLine({ name, keyId }: VerifierKey, signature: Uint8Array): string {
  return `— ${name} ${toBase64(concatBytes(fromHex(keyId), signature))}\n`
}

/**
 * A key under a name, with the key id that follows from both.
 * @throws Error if the name is not allowed in a note, or the key has the wrong length for its type
 */
export function verifierKey(
  { name, type, publicKey }: Omit<VerifierKey, 'keyId'>,
  sha256: Sha256,
): VerifierKey {
  if (!NAME.test(name) || !name.isWellFormed())
    throw new Error('a key name is not empty and has no space, plus sign or control character')
  const { publicKeyBytes } = TYPES[type]
  if (publicKey.length !== publicKeyBytes)
    throw new Error(`the key '${name}' has ${publicKey.length} bytes; one for ${type} has ${publicKeyBytes}`)
  const hash = sha256(concatBytes(new TextEncoder().encode(`${name}\n`), typedKey({ type, publicKey })))
  return { name, keyId: toHex(hash.subarray(0, 4)), type, publicKey }
}

/** `<name>+<key id>+<base64 of type and key>`. */
export function formatVkey(key: VerifierKey): string {
  return `${key.name}+${key.keyId}+${toBase64(typedKey(key))}`
}

/** A key of a type that a later version may know. */
export class UnknownKeyType extends Error {}

/**
 * @throws Error when the text is no such key, has an unknown type (`UnknownKeyType`), or names another key id than its key has: signed-note
 *   recommends this computation of the id, and every known type uses it
 */
export function parseVkey(text: string, sha256: Sha256): VerifierKey {
  // The base64 may contain plus signs, but the name may not.
  const [, name = '', keyId = '', encoded = ''] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(text) ?? []
  if (!NAME.test(name) || !/^[0-9a-f]{8}$/.test(keyId))
    throw new Error('a verifier key is a name, 8 hex digits and base64, with a plus sign between them')
  const bytes = base64(encoded)
  if (bytes === undefined || bytes.length === 0)
    throw new Error(`the verifier key '${name}' is not canonical base64`)
  const type = SIGNATURE_TYPES.find((known) => TYPES[known].byte === bytes[0])
  if (type === undefined)
    throw new UnknownKeyType(
      `the verifier key '${name}' is of type 0x${toHex(bytes.subarray(0, 1))}, which is not known`,
    )
  const key = verifierKey({ name, type, publicKey: bytes.slice(1) }, sha256)
  if (key.keyId !== keyId) throw new Error(`the verifier key '${name}' has the id ${key.keyId}, not ${keyId}`)
  return key
}

const SIGNATURE_TYPES = Object.keys(TYPES) as SignatureType[]

interface VerifiedLine {
  readonly key: VerifierKey
  readonly line: SignatureLine
}

/**
 * The lines of trusted keys, in the order of the note, one line for each key: the first if a key signed twice.
 * @param messageOf message that a line's signature covers; it throws when the line cannot have one
 * @throws Error when the signature of a trusted key is invalid, also a repeated one; other lines are not checked. No line at all is no
 *   error here: the caller decides which signatures are required
 */
export function verifiedLines(
  note: Note,
  keys: readonly VerifierKey[],
  messageOf: (key: VerifierKey, line: SignatureLine) => { message: Uint8Array; signature: Uint8Array },
  { verifies }: NoteCrypto,
): VerifiedLine[] {
  const found = new Map<VerifierKey, VerifiedLine>()
  for (const line of note.lines) {
    const key = keys.find(({ name, keyId }) => name === line.name && keyId === line.keyId)
    if (key === undefined) continue
    const { algorithm, signatureBytes } = TYPES[key.type]
    const holds =
      line.signature.length === signatureBytes &&
      verifies[algorithm]({ ...messageOf(key, line), publicKey: key.publicKey })
    if (!holds) throw new Error(`the signature of ${key.name} (key id ${key.keyId}) does not hold`)
    if (!found.has(key)) found.set(key, { key, line })
  }
  return [...found.values()]
}

function typedKey({ type, publicKey }: Pick<VerifierKey, 'type' | 'publicKey'>): Uint8Array {
  return concatBytes(Uint8Array.of(TYPES[type].byte), publicKey)
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}
