// COSE receipts (RFC 9942): the proof that an entry is in a log, for readers of COSE and SCITT. Browser-safe.
// The signature covers only the root. Size and index are not signed, so a receipt proves that the entry is in the tree, but not its place;
// a `.tlog-proof` proves both.
import { concatBytes } from '../bytes.ts'

/** The values that receipts consist of. Maps have their keys in the order of their bytes (RFC 8949 §4.2.1). */
type Cbor = number | string | Uint8Array | null | readonly Cbor[] | ReadonlyMap<number | string, Cbor>

const ALG = 1
const KID = 4
const VDS = 395
const VDP = 396
/** A fully specified algorithm (RFC 9864). */
const ED25519 = -19
const RFC9162_SHA256 = 1
const INCLUSION = -1
const COSE_SIGN1 = 18

/** @param kid the signing key, as the beginning of its vkey: `<name>+<key id>` */
export function receiptProtected(kid: string): Uint8Array {
  return encode(
    new Map<number, Cbor>([
      [ALG, ED25519],
      [KID, new TextEncoder().encode(kid)],
      [VDS, RFC9162_SHA256],
    ]),
  )
}

/** The message that the signature of a receipt covers (RFC 9052 §4.4). Its payload is the root, which is not sent: a reader has to compute it. */
export function receiptMessage(protectedHeader: Uint8Array, root: Uint8Array): Uint8Array {
  return encode(['Signature1', protectedHeader, new Uint8Array(0), root])
}

/** @throws Error for a tree of one entry: the format has no empty path. Every checkpoint of this service has two or more entries */
export function formatReceipt({
  protectedHeader,
  signature,
  entry,
  index,
  size,
  path,
}: {
  readonly protectedHeader: Uint8Array
  readonly signature: Uint8Array
  readonly entry: Uint8Array
  readonly index: number
  readonly size: number
  readonly path: readonly Uint8Array[]
}): Uint8Array {
  if (path.length === 0) throw new Error('a COSE receipt has no empty path')
  const unprotected = new Map<number | string, Cbor>([
    [VDP, new Map<number, Cbor>([[INCLUSION, [encode([size, index, path])]]])],
    // The proven leaf: a reader who has only the artifact cannot know its tags.
    ['entry', entry],
  ])
  return concatBytes(head(6, COSE_SIGN1), encode([protectedHeader, unprotected, null, signature]))
}

function encode(value: Cbor): Uint8Array {
  if (value === null) return Uint8Array.of(0xf6)
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (value instanceof Uint8Array) return concatBytes(head(2, value.length), value)
  if (typeof value === 'string') {
    const bytes = new TextEncoder().encode(value)
    return concatBytes(head(3, bytes.length), bytes)
  }
  if (value instanceof Map) {
    const members = Array.from(value as ReadonlyMap<number | string, Cbor>, (pair) => pair.map(encode)).flat()
    return concatBytes(head(5, value.size), ...members)
  }
  const items = value as readonly Cbor[]
  return concatBytes(head(4, items.length), ...items.map(encode))
}

/** The first bytes of an item: its major type, and an integer in as few bytes as possible. */
function head(major: number, argument: number): Uint8Array {
  if (argument < 24) return Uint8Array.of((major << 5) | argument)
  const bytes = argument < 2 ** 8 ? 1 : argument < 2 ** 16 ? 2 : argument < 2 ** 32 ? 4 : 8
  const view = new DataView(new ArrayBuffer(9))
  view.setBigUint64(1, BigInt(argument))
  const item = new Uint8Array(view.buffer).slice(8 - bytes)
  item[0] = (major << 5) | (24 + Math.log2(bytes))
  return item
}
