// Records whose signatures, or those of their authorizations, are by batch: of the same head, or of one that they only claim.
import {
  aPlace,
  batchTampering,
  originOf,
  recordsTogether,
  signAt,
  signTogether,
  type Place,
} from '../batches.ts'
import type { Cases } from '../case.ts'
import { at, membersAt, put, textAt, type Json, type Members } from '../edit.ts'
import { aRecord, aRecordBody, authorizedBy, receipted, seal, sealedBy } from '../evidence.ts'
import { hybridTampering } from '../hybrid.ts'
import {
  canonical,
  keys,
  modes,
  preAuthEncoding,
  sign,
  unpublished,
  type Key,
  type Signature,
} from '../keys.ts'

const SIGNATURE = ['record signature']
const AUTHORIZATION = ['authorization signature']
const STORIES = Array.from({ length: 5 }, (_, i) => ({ name: `batch ${i}` }))
const STORY = STORIES[0] as (typeof STORIES)[number]

export function batchedRecords(all: Cases): void {
  const [record, ...others] = recordsTogether(STORIES, modes.ed25519) as [Members, ...Members[]]
  valid(all, [record, ...others])
  for (const { id, what, evidence } of batchTampering(record, 'signature'))
    all.add(`batch-${id}`, what, evidence, SIGNATURE)
  swapped(all, record, others)
  signedOtherwise(all)
  authorizations(all, record)
  hybrids(all)
  withoutKey(all)
}

function valid(all: Cases, ofFive: readonly Members[]): void {
  const two = STORIES.slice(0, 2)
  for (const [i, record] of recordsTogether(two, modes.ed25519).entries())
    all.add(`valid-batch-of-two-${i}`, `At index ${i} of a batch of two.`, record)
  // Paths of three hashes, of three that the leaf is right of, and of one.
  for (const i of [0, 3, 4])
    all.add(`valid-batch-of-five-${i}`, `At index ${i} of a batch of five.`, ofFive[i] as Json)
  for (const mode of ['ml-dsa-65', 'hybrid'] as const)
    for (const [i, record] of recordsTogether(two, modes[mode]).entries())
      all.add(`valid-batch-of-two-${mode}-${i}`, `At index ${i} of a batch of two, ${mode}.`, record)
  all.add(
    'valid-batch-of-five-hybrid',
    'The last of a batch of five, hybrid.',
    recordsTogether(STORIES, modes.hybrid).at(-1) as Json,
  )
  all.add(
    'batch-ml-dsa-65-first',
    'ML-DSA-65 is its first algorithm, and Ed25519 signed the batch of its receipt.',
    recordsTogether(two, [keys.mlDsa65, keys.ed25519])[0] as Json,
    // Only ML-DSA-65 signs receipts by batch, and never in the first place.
    ['receipts'],
  )
  all.add(
    'valid-batch-rotated-key',
    'The key of the batch was rotated out and is still published.',
    recordsTogether(two, [keys.oldEd25519])[1] as Json,
  )
  const body = aRecordBody(STORY, modes.ed25519)
  all.add(
    'valid-batch-authorization-alone',
    'Its authorization is signed by batch, and it by itself.',
    receipted(
      seal(put(body, 'authorization', at(ofFive[0] as Json, 'authorization')), modes.ed25519),
      modes.ed25519,
    ),
  )
  all.add(
    'valid-batch-record-alone',
    'It is signed by batch, and its authorization by itself.',
    signedAt(aPlace({ size: 3, index: 1 })),
  )
  for (const [id, what, place] of [
    ['of-128', 'The last of a batch of 128.', { size: 128, index: 127 }],
    ['of-129', 'The last of a batch of 129: its path is one hash.', { size: 129, index: 128 }],
    [
      'of-the-most',
      'In a batch of 2^53 - 1, the greatest size: half of it is no 32-bit integer.',
      { size: Number.MAX_SAFE_INTEGER, index: 2 ** 52 + 5 },
    ],
    [
      'shortest-name',
      'The name in the origin is of one character.',
      { size: 2, index: 0, origin: originOf('x').replace('countersign', '~') },
    ],
    [
      'longest-name',
      'The name in the origin is of 200 characters.',
      { size: 2, index: 0, origin: originOf('x').replace('countersign', '!'.repeat(200)) },
    ],
  ] as const)
    all.add(`valid-batch-${id}`, what, signedAt(aPlace(place)))
  const text = JSON.stringify(ofFive[3])
  all.addText(
    'valid-batch-notation',
    'index and size are written with an exponent and a fraction: they are the same numbers.',
    text.replaceAll('"index":3,', '"index":0.3e1,').replaceAll('"size":5,', '"size":5.0,'),
  )
}

/** A record by itself in a batch of which nothing else is known. */
function signedAt(place: Place, otherwise?: Parameters<typeof signAt>[4]): Members {
  const body = aRecordBody(STORY, modes.ed25519)
  const signature = signAt('trust-record', canonical(body), keys.ed25519, place, otherwise)
  return receipted(sealedBy(body, [signature]), modes.ed25519)
}

/** Adds signatures that belong to another artifact, or to another batch. */
function swapped(all: Cases, record: Members, others: readonly Members[]): void {
  const neighbour = others[0] as Members
  const [another] = recordsTogether(STORIES.slice(0, 4), modes.ed25519) as [Members]
  const add = (id: string, what: string, evidence: Members) =>
    all.add(`batch-${id}`, what, evidence, SIGNATURE)
  add(
    'place-of-neighbour',
    "It stands at its neighbour's place.",
    put(record, 'signature.batch', at(neighbour, 'signature.batch')),
  )
  add(
    'value-of-other',
    'It carries the signature of the head of another batch.',
    put(record, 'signature.value', at(another, 'signature.value')),
  )
  add(
    'place-of-other',
    'It carries its place in another batch.',
    put(record, 'signature.batch', at(another, 'signature.batch')),
  )
  add(
    'path-of-other',
    'It carries the path from another batch in which it stands at the same index.',
    put(record, 'signature.batch.path', at(another, 'signature.batch.path')),
  )
  add(
    'head-of-other',
    'It carries origin, size and signature of another batch, in which it does not stand.',
    put(
      put(
        put(neighbour, 'signature.value', at(others[1] as Json, 'authorization.signature')),
        'signature.batch.origin',
        at(others[1] as Json, 'authorization.batch.origin'),
      ),
      'signature.batch.size',
      at(others[1] as Json, 'authorization.batch.size'),
    ),
  )
  add(
    'signature-of-authorization',
    "It carries its authorization's signature and place.",
    put(record, 'signature', {
      ...membersAt(record, 'signature'),
      value: at(record, 'authorization.signature'),
      batch: at(record, 'authorization.batch'),
    }),
  )
  add(
    'claimed-of-alone',
    'Its own signature is claimed to be of the head of a batch.',
    put(
      put(aRecord(STORY, modes.ed25519), 'signature.algorithm', 'ed25519-batch'),
      'signature.batch',
      at(record, 'signature.batch'),
    ),
  )
  const alone = aRecord(STORY, modes.ed25519)
  for (const [id, what, batch] of [
    ['beside-alone', 'A place in a batch', at(record, 'signature.batch')],
    ['null-alone', '`batch: null`', null],
    ['empty-alone', 'An empty batch', {}],
  ] as const)
    add(id, `${what} stands beside a signature of its own.`, put(alone, 'signature.batch', batch))
}

/** Adds cases that only the holder of the key can make: the signature is right, and its head is none. */
function signedOtherwise(all: Cases): void {
  const place = aPlace({ size: 2, index: 1 })
  const add = (id: string, what: string, evidence: Members) =>
    all.add(`batch-signed-${id}`, `The right key signed ${what}.`, evidence, SIGNATURE)
  const [name, uuid] = place.origin.split('/batch/') as [string, string]
  for (const [id, what, origin] of [
    ['origin-bare', 'an origin that names no batch', name],
    ['origin-unnamed', 'an origin without a name', `/batch/${uuid}`],
    ['origin-long', 'an origin whose name has 201 characters', `${'!'.repeat(201)}/batch/${uuid}`],
    ['origin-upper-case', 'an origin whose UUID is in upper case', `${name}/batch/${uuid.toUpperCase()}`],
    ['origin-no-uuid', 'an origin with a number in place of the UUID', `${name}/batch/1`],
    ['origin-space', 'an origin that begins as a DSSE encoding', `DSSEv1 ${place.origin}`],
    ['origin-plus', 'an origin with a plus sign', `a+${place.origin}`],
    ['origin-not-ascii', 'an origin with a letter that is not ASCII', `\u00e9${place.origin}`],
    ['origin-delete', 'an origin with a control character', `\u007f${place.origin}`],
    ['origin-two-lines', 'an origin of two lines', `${place.origin}\n${place.origin}`],
    ['origin-line-break', 'an origin that ends with a line break', `${place.origin}\n`],
  ] as const)
    add(id, what, signedAt({ ...place, origin }))
  add('size-one', 'the head of a batch of one', signedAt(aPlace({ size: 1, index: 0 })))
  add(
    'further-member',
    'the head, and a further member stands in batch',
    put(signedAt(place), 'signature.batch.note', 'not signed'),
  )
  add(
    'leaf-bare',
    'a tree whose leaves are hashed without their prefix',
    signedAt(place, { leaf: (encoded) => encoded }),
  )
  add(
    'leaf-node',
    'a tree whose leaves are hashed as nodes',
    signedAt(place, { leaf: (encoded) => Buffer.concat([Buffer.of(1), encoded]) }),
  )
  add(
    'leaf-hash',
    'a tree whose leaf is the trustRecordHash',
    signedAt(place, {
      leaf: () =>
        Buffer.concat([Buffer.of(0), Buffer.from(textAt(aRecord(STORY, modes.ed25519), 'trustRecordHash'))]),
    }),
  )
  for (const other of ['receipt', 'execution-authorization', 'audit-event'])
    add(
      `as-${other}`,
      `a tree whose leaf is the same bytes as a ${other}`,
      signedAt(place, {
        leaf: () => {
          const text = canonical(aRecordBody(STORY, modes.ed25519))
          return Buffer.concat([Buffer.of(0), Buffer.from(preAuthEncoding(other, text))])
        },
      }),
    )
  for (const [id, what, head] of [
    ['root-alone', 'the root alone', (_: Place, root: string) => root],
    [
      'no-last-newline',
      'the head without its last newline',
      ({ origin, size }: Place, root: string) => `${origin}\n${size}\n${root}`,
    ],
    [
      'crlf',
      'the head with CRLF line ends',
      ({ origin, size }: Place, root: string) => `${origin}\r\n${size}\r\n${root}\r\n`,
    ],
    ['no-size', 'a head without its size', ({ origin }: Place, root: string) => `${origin}\n${root}\n`],
    [
      'root-hex',
      'a head whose root is in hexadecimal',
      ({ origin, size }: Place, root: string) =>
        `${origin}\n${size}\n${Buffer.from(root, 'base64').toString('hex')}\n`,
    ],
    [
      'extension',
      'a head with a further line',
      ({ origin, size }: Place, root: string) => `${origin}\n${size}\n${root}\nmore\n`,
    ],
  ] as const)
    add(id, what, signedAt(place, { head }))
  const unhashed = (hash: Buffer) => ({ ...place, path: [hash.toString('base64')] })
  add('hash-of-33-bytes', 'a path with a hash of 33 bytes', signedAt(unhashed(Buffer.alloc(33))))
  const own = { ...keys.ed25519, seed: keys.oldEd25519.seed }
  const body = aRecordBody(STORY, modes.ed25519)
  all.add(
    'batch-other-key',
    'Another published key signed the head in the name of the one that is due.',
    receipted(sealedBy(body, [signAt('trust-record', canonical(body), own, place)]), modes.ed25519),
    SIGNATURE,
  )
}

/** Adds cases of the authorization, in a record that the right key signed as it is. */
function authorizations(all: Cases, record: Members): void {
  const body = aRecordBody(STORY, modes.ed25519)
  const add = (id: string, what: string, authorization: Members) =>
    all.add(
      `batch-authorization-${id}`,
      `Of the authorization: ${what}`,
      receipted(seal({ ...body, authorization }, modes.ed25519), modes.ed25519),
      AUTHORIZATION,
    )
  for (const { id, what, evidence } of batchTampering(record, 'authorization'))
    add(id, what, membersAt(evidence, 'authorization'))
  const payload = membersAt(body, 'authorization.payload')
  const place = aPlace({ size: 2, index: 0 })
  const signed = (due: Key, artifact = 'execution-authorization') =>
    authorizedBy(payload, signAt(artifact, canonical(payload), due, place))
  add(
    'by-ml-dsa-65',
    'ML-DSA-65 signed its batch, and authorizations are always Ed25519.',
    signed(keys.mlDsa65),
  )
  add(
    'as-trust-record',
    'The right key signed a tree whose leaf is the same bytes as a trust-record.',
    signed(keys.ed25519, 'trust-record'),
  )
  add('null-alone', '`batch: null` stands beside a signature of its own.', {
    ...membersAt(body, 'authorization'),
    batch: null,
  })
  all.add(
    'batch-authorization-changed',
    'The place of its authorization was changed after the record was signed.',
    put(record, 'authorization.batch.index', 1),
    ['canonical hash', ...SIGNATURE, ...AUTHORIZATION],
  )
}

function hybrids(all: Cases): void {
  const [whole] = recordsTogether(STORIES, modes.hybrid) as [Members]
  const bare = { ...whole, verifications: [], receipts: [] }
  for (const { id, what, evidence, kind } of hybridTampering(bare, 'signature.value'))
    all.add(
      `batch-${id}`,
      `In a batch: ${what}`,
      evidence,
      kind === 'signed members' ? ['canonical hash', ...SIGNATURE] : SIGNATURE,
    )
  const [first, second] = at(bare, 'signatures') as [Signature, Signature]
  const names: [string, string, Members][] = [
    [
      'names-swapped',
      'The algorithms of its two signatures are exchanged.',
      put(
        put(bare, 'signatures', [
          { ...first, algorithm: second.algorithm },
          { ...second, algorithm: first.algorithm },
        ]),
        'signature.algorithm',
        second.algorithm,
      ),
    ],
    [
      'values-swapped',
      'The values of its two signatures are exchanged.',
      put(
        put(bare, 'signatures', [
          { ...first, value: second.value },
          { ...second, value: first.value },
        ]),
        'signature.value',
        second.value,
      ),
    ],
    [
      'signature-without-batch',
      '`signature` has no batch, and the first of the list has one.',
      withoutBatch(bare),
    ],
    [
      'signature-other-index',
      '`signature` has another index than the first of the list.',
      put(bare, 'signature.batch.index', 1),
    ],
    [
      'signature-null',
      '`signature` has `batch: null`, and the first of the list has a batch.',
      put(bare, 'signature.batch', null),
    ],
  ]
  for (const [id, what, evidence] of names) all.add(`batch-hybrid-${id}`, what, evidence, SIGNATURE)

  const body = aRecordBody(STORY, modes.hybrid)
  const text = canonical(body)
  const others = STORIES.slice(1).map((story) => canonical(aRecordBody(story, modes.hybrid)))
  const byBatch = (due: Key, batch: string) =>
    signTogether('trust-record', [text, ...others], due, batch)[0] as Signature
  const [ed25519, mlDsa65] = modes.hybrid
  const sealed = (...signatures: Signature[]) => ({
    ...sealedBy(body, signatures),
    verifications: [],
    receipts: [],
  })
  all.add(
    'valid-batch-hybrid-second-alone',
    'Its Ed25519 signature is by batch, and its ML-DSA-65 signature its own.',
    sealed(byBatch(ed25519, 'one'), sign('trust-record', text, mlDsa65)),
  )
  all.add(
    'valid-batch-hybrid-first-alone',
    'Its ML-DSA-65 signature is by batch, and its Ed25519 signature its own.',
    sealed(sign('trust-record', text, ed25519), byBatch(mlDsa65, 'one')),
  )
  all.add(
    'valid-batch-hybrid-two-batches',
    'Its two signatures are of the heads of two batches.',
    sealed(byBatch(ed25519, 'one'), byBatch(mlDsa65, 'two')),
  )
  const required = { ...body, requiredAlgorithms: modes.hybrid.map(({ algorithm }) => `${algorithm}-batch`) }
  const claimed = modes.hybrid.map((due) =>
    signAt('trust-record', canonical(required), due, aPlace({ size: 2, index: 0 })),
  )
  all.add(
    'batch-hybrid-signed-requires-batches',
    'The right keys signed that the two algorithms by batch are required.',
    { ...sealedBy(required, claimed), verifications: [], receipts: [] },
    SIGNATURE,
  )
}

function withoutBatch(record: Members): Members {
  const { batch: _, ...signature } = membersAt(record, 'signature')
  return { ...record, signature }
}

/** By a key that is not given nothing can be said of the head, and everything of the place. */
function withoutKey(all: Cases): void {
  const body = aRecordBody(STORY, modes.ed25519)
  const place = aPlace({ size: 2, index: 1 })
  const signature = signAt('trust-record', canonical(body), unpublished.ed25519, place)
  const record = receipted(sealedBy(body, [signature]), modes.ed25519)
  all.addUnchecked('batch-unknown-key', 'A key that is not published signed the head.', record, SIGNATURE)
  all.addUnchecked(
    'batch-unknown-key-other-index',
    'A key that is not published signed the head, and the index is another: it leads to another head.',
    put(record, 'signature.batch.index', 0),
    SIGNATURE,
  )
  all.add(
    'batch-unknown-key-no-path',
    'A key that is not published signed the head, and no path leads to that.',
    put(record, 'signature.batch.path', []),
    SIGNATURE,
  )
}
