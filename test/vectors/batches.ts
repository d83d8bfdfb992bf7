// Signatures by batch as the server makes them (docs/design-notes.md "Batch signatures"). Roots and paths follow the recursive definitions
// of RFC 9162 §2.1, where the server and the verifiers have loops.
import { createHash } from 'node:crypto'
import type { Row } from './case.ts'
import { at, drop, membersAt, put, type Json, type Members } from './edit.ts'
import {
  aRecordBody,
  authorizedBy,
  aVerification,
  receiptBy,
  receiptMembers,
  receiptOf,
  sealedBy,
  uuid,
  type Story,
} from './evidence.ts'
import { canonical, keys, preAuthEncoding, sign, type Key, type Signature } from './keys.ts'

/** Where an artifact stands in its batch. */
export type Place = { origin: string; size: number; index: number; path: string[] }

/** A signer does this otherwise than the server. */
interface Otherwise {
  /** The bytes of which the leaf is the SHA-256, made of the DSSE encoding. */
  readonly leaf?: (encoded: Buffer) => Buffer
  /** The text that is signed in place of the head. */
  readonly head?: (place: Place, root: string) => string
}

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const nodeHash = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right)

/** The largest power of two that is less than the size. */
function leftSize(size: number): number {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}

/** MTH of RFC 9162 §2.1.1, of hashed leaves. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  const [only = Buffer.alloc(0)] = leaves
  if (leaves.length < 2) return only
  const left = leftSize(leaves.length)
  return nodeHash(rootOf(leaves.slice(0, left)), rootOf(leaves.slice(left)))
}

/** PATH of RFC 9162 §2.1.3.1, of hashed leaves. */
function pathOf(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length < 2) return []
  const left = leftSize(leaves.length)
  return index < left
    ? [...pathOf(index, leaves.slice(0, left)), rootOf(leaves.slice(left))]
    : [...pathOf(index - left, leaves.slice(left)), rootOf(leaves.slice(0, left))]
}

/** @throws where the path is shorter than index and size make it, or these are no place; a longer one is not noticed */
function rootAt(leaf: Buffer, { size, index, path }: Place): Buffer {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new Error('no place in a batch')
  if (size === 1) return leaf
  const sibling = path.at(-1)
  if (typeof sibling !== 'string') throw new Error('the path is too short')
  const hash = Buffer.from(sibling, 'base64')
  const [left, below] = [leftSize(size), path.slice(0, -1)]
  return index < left
    ? nodeHash(rootAt(leaf, { origin: '', size: left, index, path: below }), hash)
    : nodeHash(hash, rootAt(leaf, { origin: '', size: size - left, index: index - left, path: below }))
}

const prefixed = (encoded: Buffer) => Buffer.concat([Buffer.of(0), encoded])
const encode = (artifact: string, text: string) => Buffer.from(preAuthEncoding(artifact, text))

/** The text of the head under which an artifact stands at a place. */
export function headAt(
  artifact: string,
  text: string,
  place: Place,
  { leaf = prefixed, head = headText }: Otherwise = {},
): string {
  const root = rootAt(sha256(leaf(encode(artifact, text))), place)
  return head(place, root.toString('base64'))
}

function headText({ origin, size }: Place, root: string): string {
  return `${origin}\n${size}\n${root}\n`
}

/** The key signs the head to which the place leads, whatever the place is. */
export function signAt(
  artifact: string,
  text: string,
  due: Key,
  place: Place,
  otherwise?: Otherwise,
): Signature {
  const message = () => headAt(artifact, text, place, otherwise)
  return sign(artifact, text, due, {
    algorithm: `${due.algorithm}-batch`,
    message,
    beside: { batch: place },
  })
}

/** A batch's origin that is the same every time. */
export function originOf(batch: string): string {
  return `countersign/batch/${uuid(`batch ${batch}`)}`
}

/** The signatures of one batch, in the order of its texts. */
export function signTogether(
  artifact: string,
  texts: readonly string[],
  due: Key,
  batch: string,
): Signature[] {
  const leaves = texts.map((text) => sha256(prefixed(encode(artifact, text))))
  return texts.map((text, index) => {
    const path = pathOf(index, leaves).map((hash) => hash.toString('base64'))
    return signAt(artifact, text, due, { origin: originOf(batch), size: texts.length, index, path })
  })
}

/** A place whose neighbours are made up: only their hashes are needed. */
export function aPlace(place: { size: number; index: number; origin?: string }): Place {
  const { size, index, origin = originOf('made up') } = place
  const sides = sidesOf(index, size)
  const path = Array.from({ length: sides }, (_, i) =>
    sha256(Buffer.from(`neighbour ${i}`)).toString('base64'),
  )
  return { origin, size, index, path }
}

/** The length of a path. */
function sidesOf(index: number, size: number): number {
  if (size < 2) return 0
  const left = leftSize(size)
  return 1 + (index < left ? sidesOf(index, left) : sidesOf(index - left, size - left))
}

/** Whole records of one batch, as the server answers them: an authorization is always signed by Ed25519, a receipt's own signature stands alone. */
export function recordsTogether(stories: readonly Story[], signers: readonly Key[]): Members[] {
  const batch = `${stories.map(({ name }) => name).join(', ')} by ${signers.map(({ keyId }) => keyId).join(', ')}`
  const unauthorized = stories.map((story) => aRecordBody(story, signers))
  const payloads = unauthorized.map((body) => membersAt(body, 'authorization.payload'))
  const authorizations = signTogether(
    'execution-authorization',
    payloads.map(canonical),
    keys.ed25519,
    `of authorizations, ${batch}`,
  )
  const bodies = unauthorized.map((body, i) => {
    const [payload, signature] = [payloads[i], authorizations[i]]
    if (payload === undefined || signature === undefined) throw new Error('no authorization')
    return { ...body, authorization: authorizedBy(payload, signature) }
  })
  const records = inTurn(signers, (due) =>
    signTogether('trust-record', bodies.map(canonical), due, `of records, ${batch}`),
  ).map((signatures, i) => sealedBy(bodies[i] as Members, signatures))
  return receiptsTogether(records, signers, batch)
}

/** The records, each with its one verification and its one receipt. */
function receiptsTogether(records: readonly Members[], signers: readonly Key[], batch: string): Members[] {
  const verifications = records.map((record) => aVerification(record))
  const contents = records.map((record, i) =>
    receiptMembers(receiptOf(record, verifications[i] as Members), signers),
  )
  const texts = contents.map(canonical)
  const signed = inTurn(signers, (due) =>
    due === signers[0]
      ? texts.map((text) => sign('receipt', text, due))
      : signTogether('receipt', texts, due, `of receipts, ${batch}`),
  )
  return records.map((record, i) => ({
    ...record,
    verifications: [verifications[i] as Members],
    receipts: [receiptBy(contents[i] as Members, signed[i] as Signature[])],
  }))
}

/** Each artifact gets the signatures of all signers. */
function inTurn(signers: readonly Key[], signAll: (due: Key) => Signature[]): Signature[][] {
  const [first = [], ...others] = signers.map(signAll)
  return first.map((one, i) => [one, ...others.map((list) => list[i] as Signature)])
}

/** Lists what is wrong with a signature of a kind that is never signed by batch. */
export function batchForgeries(own: string): [byBatch: Row, ...others: Row[]] {
  const batch = aPlace({ size: 2, index: 1 })
  return [
    [
      'by-batch',
      'The right key signed the head of a batch in which it stands; this kind of evidence is never signed by batch.',
      { algorithm: 'ed25519-batch', message: (text) => headAt(own, text, batch), beside: { batch } },
    ],
    [
      'batch-beside',
      'The right key signed it by itself, and a place in a batch stands beside that.',
      { beside: { batch } },
    ],
    [
      'batch-null',
      'The right key signed it by itself, and `batch: null` stands beside that.',
      { beside: { batch: null } },
    ],
  ]
}

const otherBits = (hash: string) => {
  const bytes = Buffer.from(hash, 'base64')
  bytes[0] = (bytes[0] ?? 0) ^ 1
  return bytes.toString('base64')
}
const firstOf = (change: (hash: string) => string) => (place: Place) => ({
  ...place,
  path: place.path.map((hash, i) => (i === 0 ? change(hash) : hash)),
})

/** A place in a batch of five can be changed so without a key. */
const PLACES: readonly (readonly [id: string, what: string, change: (place: Place) => Json])[] = [
  ['null', 'batch is null.', () => null],
  ['list', 'batch is a list.', (place) => [place]],
  ['size-more', 'size is one more.', (place) => ({ ...place, size: place.size + 1 })],
  [
    'size-eight',
    'size is 8, in which the path has the same length and sides.',
    (place) => ({ ...place, size: 8 }),
  ],
  ['size-one', 'size is 1 and the path is empty.', (place) => ({ ...place, size: 1, index: 0, path: [] })],
  ['size-text', 'size is a text.', (place) => ({ ...place, size: String(place.size) })],
  ['size-fraction', 'size is no integer.', (place) => ({ ...place, size: place.size + 0.5 })],
  ['size-2-53', 'size is 2^53.', (place) => ({ ...place, size: 2 ** 53 })],
  ['size-missing', 'size is missing.', (place) => drop(place, 'size')],
  ['index-neighbour', "index is its neighbour's.", (place) => ({ ...place, index: place.index ^ 1 })],
  ['index-size', 'index is the size.', (place) => ({ ...place, index: place.size })],
  ['index-negative', 'index is negative.', (place) => ({ ...place, index: -1 })],
  ['index-fraction', 'index is no integer.', (place) => ({ ...place, index: place.index + 0.5 })],
  ['index-null', 'index is null.', (place) => ({ ...place, index: null })],
  [
    'origin-other-batch',
    "origin is another batch's.",
    (place) => ({ ...place, origin: originOf('another') }),
  ],
  [
    'origin-other-service',
    "origin is another service's.",
    (place) => ({ ...place, origin: `x${place.origin}` }),
  ],
  [
    'origin-line',
    'A line stands before the origin.',
    (place) => ({ ...place, origin: `x\n${place.origin}` }),
  ],
  ['origin-missing', 'origin is missing.', (place) => drop(place, 'origin')],
  ['path-short', 'The path lacks its last hash.', (place) => ({ ...place, path: place.path.slice(0, -1) })],
  [
    'path-long',
    'The path has a hash more.',
    (place) => ({ ...place, path: [...place.path, place.path[0] ?? ''] }),
  ],
  ['path-empty', 'The path is empty.', (place) => ({ ...place, path: [] })],
  ['path-missing', 'The path is missing.', (place) => drop(place, 'path')],
  [
    'path-turned',
    'The path is from the root down.',
    (place) => ({ ...place, path: place.path.toReversed() }),
  ],
  ['path-bit', 'A bit of the path is flipped.', firstOf(otherBits)],
  [
    'hash-31-bytes',
    'A hash of the path has 31 bytes.',
    firstOf((hash) => Buffer.from(hash, 'base64').subarray(1).toString('base64')),
  ],
  ['hash-unpadded', 'A hash of the path has no padding.', firstOf((hash) => hash.replace('=', ''))],
  [
    'hash-trailing-bits',
    'The bits of a hash that no byte needs are not zero.',
    firstOf((hash) => `${hash.slice(0, -2)}${nextLetter(hash.at(-2) ?? '')}=`),
  ],
  ['hash-line-break', 'A line break stands after a hash of the path.', firstOf((hash) => `${hash}\n`)],
  [
    'hash-hex',
    'A hash of the path is in hexadecimal.',
    firstOf((hash) => Buffer.from(hash, 'base64').toString('hex')),
  ],
  [
    'further-member',
    'A further member stands in batch.',
    (place) => ({ ...place, root: place.path[0] ?? '' }),
  ],
]

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const nextLetter = (letter: string) => ALPHABET[ALPHABET.indexOf(letter) + 1] ?? ''

/**
 * Adds changes that can be made to a signature by batch without a key.
 * @param evidence holds it
 * @param path of the object in which `algorithm`, `keyId` and `batch` stand
 */
export function batchTampering(
  evidence: Members,
  path: string,
): { readonly id: string; readonly what: string; readonly evidence: Members }[] {
  const place = at(evidence, `${path}.batch`) as unknown as Place
  const algorithm = at(evidence, `${path}.algorithm`) as string
  const family = algorithm.replace(/-batch$/, '')
  const other = family === 'ed25519' ? 'ml-dsa-65' : 'ed25519'
  const { batch: _, ...bare } = membersAt(evidence, path)
  const names: [string, string, Members][] = [
    ['missing', 'The algorithm is one by batch, and there is no batch.', put(evidence, path, bare)],
    [
      'plain-name',
      'The algorithm is not one by batch, and there is a batch.',
      put(evidence, `${path}.algorithm`, family),
    ],
    [
      'plain',
      'The signature of the head is claimed to be one of the evidence itself.',
      put(evidence, path, { ...bare, algorithm: family }),
    ],
    [
      'other-name',
      "The algorithm is the other algorithm's by batch.",
      put(evidence, `${path}.algorithm`, `${other}-batch`),
    ],
    [
      'name-twice',
      'The algorithm says twice that it is by batch.',
      put(evidence, `${path}.algorithm`, `${algorithm}-batch`),
    ],
    [
      'name-unknown',
      'The algorithm is one that nobody knows, by batch.',
      put(evidence, `${path}.algorithm`, 'rsa-batch'),
    ],
  ]
  return [
    ...PLACES.map(([id, what, change]) => ({
      id,
      what: `In a batch of ${place.size}: ${what}`,
      evidence: put(evidence, `${path}.batch`, change(place)),
    })),
    ...names.map(([id, what, changed]) => ({ id, what, evidence: changed })),
  ]
}
