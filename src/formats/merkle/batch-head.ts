// One signature for a batch of artifacts (decisions §12; docs/design-notes.md "Batch signatures"): it signs the head of a Merkle tree over
// them, in the form of a C2SP tlog-checkpoint, and each artifact contains its path. Browser-safe: hashing and base64 are arguments.
import { rootOfInclusion, leafHash, type Sha256 } from './tree.ts'

/** The position of an artifact in its batch, as `signature.batch` states it. */
export type BatchPosition = {
  /** The first line of the head: `<name>/batch/<uuid>`. */
  readonly origin: string
  /** Number of artifacts in the batch, 2 or more. */
  readonly size: number
  /** From 0. */
  readonly index: number
  /** From the leaf up, each 32 bytes in padded base64. */
  readonly path: readonly string[]
}

export interface Hashing {
  readonly sha256: Sha256
  /** Undefined if the text is not the canonical base64 of its bytes. */
  readonly fromBase64: (text: string) => Uint8Array | undefined
  readonly toBase64: (bytes: Uint8Array) => string
}

/** The text of a head, including its last newline; its UTF-8 bytes are signed. */
export function headText({ origin, size, root }: { origin: string; size: number; root: string }): string {
  return `${origin}\n${size}\n${root}\n`
}

/** Printable ASCII without space and plus sign, so that no head begins like a DSSE encoding, and each name is valid in a C2SP note. */
const ORIGIN = /^[!-*,-~]{1,200}\/batch\/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * The head that must be signed if an artifact has the position that `batch` states.
 * @param encoded the artifact in the encoding of its individual signature: the data of the leaf
 * @param batch of any shape
 * @throws Error whose message names the mistake in `batch`
 */
function headOf(encoded: Uint8Array, batch: unknown, { sha256, fromBase64, toBase64 }: Hashing): string {
  const { origin, size, index, path } = readPosition(batch)
  const hashes = path.map((text) => {
    const hash = fromBase64(text)
    if (hash?.length !== 32) throw new Error('a hash in the path of the batch is not 32 bytes of base64')
    return hash
  })
  const root = rootOfInclusion({ leafHash: leafHash(encoded, sha256), index, size, path: hashes }, sha256)
  return headText({ origin, size, root: toBase64(root) })
}

function readPosition(value: unknown): BatchPosition {
  const { origin, size, index, path, ...others } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as { readonly [name in keyof BatchPosition]?: unknown }
  if (typeof origin !== 'string' || !ORIGIN.test(origin))
    throw new Error('the origin of the batch is not a name, /batch/ and a UUID')
  if (!Number.isSafeInteger(size) || (size as number) < 2)
    throw new Error('the size of the batch is not an integer of 2 or more')
  if (!Number.isSafeInteger(index) || (index as number) < 0)
    throw new Error('the index in the batch is not an integer of 0 or more')
  if (!Array.isArray(path) || !path.every((hash) => typeof hash === 'string'))
    throw new Error('the path of the batch is not a list of hashes')
  if (Object.keys(others).length > 0) throw new Error('the batch has an unknown member')
  return { origin, size: size as number, index: index as number, path }
}

/** The canonical text of a position. */
export function positionText({ index, origin, path, size }: BatchPosition): string {
  return `{"index":${index},"origin":${JSON.stringify(origin)},"path":["${path.join('","')}"],"size":${size}}`
}

const BATCH = '-batch'

/** The algorithm of the key that signs under this name: `ed25519` for `ed25519-batch`; any other name is unchanged. */
export function familyOf(algorithm: string): string {
  return algorithm.endsWith(BATCH) ? algorithm.slice(0, -BATCH.length) : algorithm
}

/** The kinds of artifacts that are signed by batch, with their algorithms. A receipt's own signature is never: `openssl` alone can check it. */
const SIGNED_BY_BATCH: Readonly<Record<string, readonly string[]>> = {
  'trust-record': ['ed25519-batch', 'ml-dsa-65-batch'],
  'execution-authorization': ['ed25519-batch'],
  receipt: ['ml-dsa-65-batch'],
}

/**
 * The bytes that a signature covers: the encoded artifact itself, or the head of its batch.
 * @throws Error whose message names the mistake, when the artifact cannot have such a signature
 */
export function signedMessage(
  artifact: string,
  encoded: Uint8Array,
  { algorithm, batch }: { readonly algorithm: string; readonly batch?: unknown },
  hashing: Hashing,
): Uint8Array {
  if (!algorithm.endsWith(BATCH)) {
    if (batch !== undefined) throw new Error(`a signature of '${algorithm}' stands in no batch`)
    return encoded
  }
  if (SIGNED_BY_BATCH[artifact]?.includes(algorithm) !== true)
    throw new Error(`'${algorithm}' does not sign this kind of artifact`)
  return new TextEncoder().encode(headOf(encoded, batch, hashing))
}
