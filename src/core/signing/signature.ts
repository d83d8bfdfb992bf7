// Every signature of the service is made and verified here: canonical text in, base64 out, and back (decisions §4 "Signature").
import {
  familyOf,
  positionText,
  signedMessage,
  type BatchPosition,
  type Hashing,
} from '../../formats/merkle/batch-head.ts'
import { batchOf, toBase64 } from './batch.ts'
import { preAuthEncoding, type SignedKind } from './dsse.ts'
import type { PublicKey, SigningKey } from './keys.ts'
import type { Algorithm } from '../../formats/schemas/signature.ts'
import { revocationProblem } from './revocation.ts'
import { sha256 } from '../../store/sha256.ts'

/** A type, because the compiler does not accept an interface as JSON. */
export type Signature = {
  readonly algorithm: Algorithm | `${Algorithm}-batch`
  readonly keyId: string
  /** Base64 with padding. */
  readonly value: string
  /** The artifact's position in its batch, if `algorithm` ends in `-batch`: then `value` signs the head of the batch. */
  readonly batch?: BatchPosition
}

/** Writes the signer, and the position in a batch: the first members of every signature in canonical text. */
export function signerText({ algorithm, batch, keyId }: Signature): string {
  const position = batch === undefined ? '' : `"batch":${positionText(batch)},`
  return `"algorithm":"${algorithm}",${position}"keyId":${JSON.stringify(keyId)}`
}

/** Synchronous: an Ed25519 signature takes less than a turn of the event loop. `key` must be an Ed25519 key. */
export function signEd25519(artifact: SignedKind, canonicalText: string, key: SigningKey): Signature {
  const bytes = key.sign(preAuthEncoding(artifact, canonicalText))
  if (bytes instanceof Promise) throw new TypeError(`${key.public.keyId} is not an Ed25519 key`)
  return signatureBy(key, bytes)
}

/** One signature per key, in their order; more than one is a hybrid. */
export async function sign(
  artifact: SignedKind,
  canonicalText: string,
  keys: readonly SigningKey[],
): Promise<Signature[]> {
  const message = preAuthEncoding(artifact, canonicalText)
  return Promise.all(keys.map(async (key) => signatureBy(key, await key.sign(message))))
}

export interface SignTogether {
  /** BATCH_SIGNATURES: false signs each text individually. */
  readonly batchSignatures: boolean
  /** Prefix of `/batch/` in the origin of a head. */
  readonly originName: string
  /** A UUID that names a batch in its origin. */
  readonly newId: () => string
  /** Remembers the heads that were verified after signing, so that checks of the artifacts need not verify them again. */
  readonly signatureMemo: SignatureMemo
}

/**
 * Signs texts of one kind with one signature per key, over the head of the Merkle tree of all texts. A single text gets an individual signature.
 * @returns for each text its signatures, in the order of `keys`
 * @throws Error when a signature that was just made does not verify, as after a processor fault
 */
export async function signTogether(
  artifact: SignedKind,
  canonicalTexts: readonly string[],
  keys: readonly SigningKey[],
  { batchSignatures, originName, newId, signatureMemo }: SignTogether,
): Promise<Signature[][]> {
  if (!batchSignatures || canonicalTexts.length < 2)
    return Promise.all(canonicalTexts.map((text) => sign(artifact, text, keys)))
  const { head, positions } = batchOf(artifact, canonicalTexts, `${originName}/batch/${newId()}`)
  const heads = await Promise.all(keys.map((key) => signHead(head, key, signatureMemo)))
  return positions.map((batch) =>
    heads.map((one): Signature => ({ ...one, algorithm: `${one.algorithm}-batch`, batch })),
  )
}

async function signHead(head: Buffer, key: SigningKey, signatureMemo: SignatureMemo) {
  const signature = signatureBy(key, await key.sign(head))
  if (!signatureMemo.verifies({ message: head, signature: signature.value, publicKey: key.public }))
    throw new Error(`a signature by ${key.public.keyId} does not verify`)
  return signature
}

/**
 * Rebuilds the tree of a batch from the bytes of its texts.
 *
 * @param sample one of `items`, verified with its signatures, so that the head of these signatures is known to be signed
 * @param sample.signatures signatures that the sample carries
 * @param textOf the signed text of an item
 * @param carries whether an item carries exactly these signatures, and otherwise matches its parts
 * @returns the items that carry their positions in the tree; none when the sample does not, or was signed individually
 */
export function carriersIn<Item extends object>(
  artifact: SignedKind,
  items: readonly Item[],
  {
    sample,
    textOf,
    carries,
  }: {
    readonly sample: { readonly item: Item; readonly signatures: readonly Signature[] }
    readonly textOf: (item: Item) => string
    readonly carries: (item: Item, signatures: readonly Signature[]) => boolean
  },
): ReadonlySet<Item> {
  const origin = sample.signatures[0]?.batch?.origin
  if (origin === undefined) return new Set()
  const { positions } = batchOf(artifact, items.map(textOf), origin)
  const carriers = items.filter((item, i) =>
    carries(
      item,
      sample.signatures.map((one): Signature => ({ ...one, batch: positions[i]! })),
    ),
  )
  return new Set(carriers.includes(sample.item) ? carriers : [])
}

/**
 * Whether a signature is this key's for this text as this artifact, individually or in its batch. Never throws, for any input.
 * Strict: the signature must name this key and its algorithm, and only one base64 text stands for its bytes,
 * so that a signature cannot be rewritten and still pass. A revoked key verifies only texts that state a time before its revocation.
 * @param signatureMemo memo of the batch that the text belongs to: signatures in it are not verified again
 */
export function verifySignature(
  artifact: SignedKind,
  canonicalText: string,
  signature: Signature,
  publicKey: PublicKey,
  signatureMemo: SignatureMemo = openSignatureMemo(),
): boolean {
  const { algorithm, keyId, value } = signature
  if (typeof algorithm !== 'string' || familyOf(algorithm) !== publicKey.algorithm) return false
  if (keyId !== publicKey.keyId || typeof value !== 'string') return false
  if (revocationProblem(artifact, canonicalText, publicKey) !== undefined) return false
  const encoded = preAuthEncoding(artifact, canonicalText)
  let message: Uint8Array
  try {
    message = signedMessage(artifact, encoded, signature, hashing)
  } catch {
    return false
  }
  return signatureMemo.verifies({
    message: Buffer.from(message.buffer, message.byteOffset, message.length),
    signature: value,
    publicKey,
  })
}

interface AskedSignature {
  readonly message: Buffer
  /** Base64 with padding, or any other text. */
  readonly signature: string
  readonly publicKey: PublicKey
}

/** The signatures that one batch of executions has verified: no more than the batch makes. */
export interface SignatureMemo {
  /** Whether the signature is this key's for exactly these bytes. The same bytes are verified once, for all callers. */
  readonly verifies: (asked: AskedSignature) => boolean
}

export function openSignatureMemo(): SignatureMemo {
  const known = new Map<string, Omit<AskedSignature, 'signature'>>()
  return {
    verifies({ message, signature, publicKey }) {
      const before = known.get(signature)
      if (before?.message.equals(message) && isSameKey(before.publicKey, publicKey)) return true
      const bytes = fromBase64(signature)
      if (bytes === undefined || !publicKey.verifies(message, bytes)) return false
      known.set(signature, { message, publicKey })
      return true
    },
  }
}

function isSameKey(a: PublicKey, b: PublicKey): boolean {
  return a.algorithm === b.algorithm && Buffer.compare(a.bytes, b.bytes) === 0
}

function signatureBy({ public: { algorithm, keyId } }: SigningKey, bytes: Buffer) {
  return { algorithm, keyId, value: bytes.toString('base64') }
}

/** Undefined if the text is not the canonical base64 of its bytes. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

const hashing: Hashing = { sha256, fromBase64, toBase64 }
