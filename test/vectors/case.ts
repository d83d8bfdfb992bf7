// One published case, and what several artifacts have in common: the list of what a forger does to a signature.
import { put, type Json, type Members } from './edit.ts'
import { canonical, humans, keys, preAuthEncoding, sha256, unpublished, type Forgery } from './keys.ts'

type ArtifactName =
  | 'trust-record'
  | 'receipt'
  | 'refusal-record'
  | 'audit-event'
  | 'governance-change'
  | 'intent-transition'
  | 'provider-confirmation'
  | 'approval-request'
  | 'approval-request-close'
  | 'approval-request-note'
  | 'bundle'

/** A verifier is given a JSON value, or the exact text where the text itself is the point. */
export type Given = { readonly evidence: Json } | { readonly text: string }

export type Case = Given & {
  readonly id: string
  readonly what: string
  readonly artifact: ArtifactName
  readonly valid: boolean
  /** The checks that fail, in no order. */
  readonly failing: readonly string[]
  /** The checks that cannot be made, for want of a key. */
  readonly unchecked?: readonly string[]
  /** A report says these beside its checks, word for word; where they are the point. */
  readonly notes?: readonly string[]
  /** The text of the log description in place of that of `log.json`; null: none is given. */
  readonly log?: string | null
  /** No evidence at all: there is nothing to check. */
  readonly unusable?: true
}

/** The cases of one artifact, collected in the order in which they are published. */
export class Cases {
  readonly cases: Case[] = []
  readonly #artifact: ArtifactName
  constructor(artifact: ArtifactName) {
    this.#artifact = artifact
  }

  /** Adds a case. Without `failing` it is valid. */
  add(id: string, what: string, evidence: Json, failing: readonly string[] = []): void {
    this.#push({ id, what, evidence, failing })
  }

  /** Adds a forgery by an unpublished key: the verdict can only be that the key is not given. `checks` are those of the signature. */
  addForged(id: string, what: string, evidence: Json, checks: readonly string[], { keyId }: Forgery): void {
    if (keyId === undefined || isPublished(keyId)) this.add(id, what, evidence, checks)
    else this.addUnchecked(id, what, evidence, checks)
  }

  /** Adds a case that cannot be checked whole. Checks that are `failing` all the same decide the verdict. */
  addUnchecked(
    id: string,
    what: string,
    evidence: Json,
    unchecked: readonly string[],
    failing: readonly string[] = [],
  ): void {
    this.#push({ id, what, evidence, failing, unchecked })
  }

  /** Puts something in place that nothing signs: nobody can say what it means, and nothing else is wrong. */
  addUnsigned(id: string, what: string, evidence: Members, path: string, value: Json = 'CEO'): void {
    this.addUnchecked(`unsigned-${id}`, what, put(evidence, path, value), ['members'])
  }

  /** A valid one with something that a reader should know. */
  addNoted(id: string, what: string, evidence: Json, notes: readonly string[]): void {
    this.#push({ id, what, evidence, failing: [], notes })
  }

  /** Adds a case that is verified by another log description; null: by none. */
  addBy(
    log: string | null,
    id: string,
    what: string,
    evidence: Json,
    outcome: Partial<Pick<Case, 'failing' | 'unchecked' | 'notes' | 'unusable'>> = {},
  ): void {
    this.#push({ id, what, evidence, failing: [], ...outcome, log })
  }

  addText(id: string, what: string, text: string, failing: readonly string[] = []): void {
    this.#push({ id, what, text, failing })
  }

  addUnusable(id: string, what: string, text: string): void {
    this.#push({ id, what, text, failing: [], unusable: true })
  }

  #push({
    id,
    what,
    failing,
    unchecked,
    notes,
    log,
    unusable,
    ...given
  }: Pick<Case, 'id' | 'what' | 'failing' | 'unchecked' | 'notes' | 'log' | 'unusable'> & Given): void {
    const valid = failing.length === 0 && unchecked === undefined && unusable === undefined
    this.cases.push({
      id: `${this.#artifact}/${id}`,
      what,
      artifact: this.#artifact,
      ...given,
      valid,
      failing,
      ...(unchecked === undefined ? {} : { unchecked }),
      ...(notes === undefined ? {} : { notes }),
      ...(log === undefined ? {} : { log }),
      ...(unusable === undefined ? {} : { unusable }),
    })
  }
}

function isPublished(keyId: string): boolean {
  return [...Object.values(keys), ...Object.values(humans)].some((key) => key.keyId === keyId)
}

export type Row = readonly [id: string, what: string, forgery: Forgery]

/** @param own the artifact that is signed: a signature made for any other artifact is a forgery of it */
export function forgeries(own: string): Row[] {
  const others = [
    'trust-record',
    'receipt',
    'execution-authorization',
    'refusal-record',
    'audit-event',
    'governance-change',
    'intent-transition',
    'provider-confirmation',
    'approval-request',
    'approval-request-close',
    'approval-request-note',
    'approval',
    'step-up',
  ]
  return [
    ...others
      .filter((other) => other !== own)
      .map((other): Row => [
        `signed-as-${other}`,
        `The right key signed the same bytes as a ${other}.`,
        { artifact: other },
      ]),
    [
      'signed-as-v2',
      'The right key signed a payload type of another version.',
      { message: (text) => preAuthEncoding(own, text).replace('.v1+json', '.v2+json') },
    ],
    [
      'signed-bare',
      'The right key signed the canonical bytes without the DSSE encoding.',
      { message: (text) => text },
    ],
    [
      'signed-hash',
      'The right key signed the hash in place of the bytes.',
      { message: (text) => preAuthEncoding(own, sha256(text)) },
    ],
    [
      'signed-pretty',
      'The right key signed the members as indented JSON, which is not canonical.',
      { message: (text) => preAuthEncoding(own, JSON.stringify(JSON.parse(text), null, 2)) },
    ],
    [
      'signed-other-content',
      'The right key signed other content.',
      { message: () => preAuthEncoding(own, canonical({})) },
    ],
    [
      'unknown-key',
      'A key that is not published signed, under its own keyId.',
      { key: unpublished.ed25519, keyId: unpublished.ed25519.keyId },
    ],
    [
      'unknown-key-as-published',
      'A key that is not published signed, under the keyId of one that is.',
      { key: unpublished.ed25519 },
    ],
    [
      'other-published-key-id',
      'The right key signed, and another published key of the algorithm is named.',
      { keyId: keys.oldEd25519.keyId },
    ],
    [
      'other-published-key',
      'Another published key signed in the name of the one that is due.',
      { key: keys.oldEd25519 },
    ],
    [
      'key-of-other-algorithm',
      'The keyId of a published key of another algorithm is named.',
      { keyId: keys.mlDsa65.keyId },
    ],
    [
      'algorithm-ml-dsa-65',
      'The algorithm is claimed to be another than the key has.',
      { algorithm: 'ml-dsa-65' },
    ],
    ['algorithm-upper-case', 'The algorithm is written in upper case.', { algorithm: 'Ed25519' }],
    ['algorithm-eddsa', "The algorithm is named as in the key's JWK.", { algorithm: 'EdDSA' }],
    [
      'algorithm-none',
      'The algorithm is claimed to be none, and the signature is empty.',
      { algorithm: 'none', value: () => '' },
    ],
    ...lookAlikes(keys.ed25519.keyId).map(([id, what, keyId]): Row => [
      `key-id-${id}`,
      `The keyId is the right one ${what}.`,
      { keyId },
    ]),
    ['key-id-empty', 'The keyId is empty.', { keyId: '' }],
    [
      'key-id-proto',
      'The keyId is the name of a member that every JavaScript object inherits.',
      { keyId: 'constructor' },
    ],
    ...spoiled,
    ['unpadded', 'The base64 has no padding.', { value: (base64) => base64.replace(/=+$/, '') }],
    [
      'trailing-bits',
      'The bits of the base64 that no byte needs are not zero.',
      { value: (base64) => base64.replace(/.(==)$/, (end) => `${nextLetter(end[0] ?? '')}==`) },
    ],
    [
      's-plus-l',
      'The scalar S of the Ed25519 signature is S + L: malleated, RFC 8032 §5.1.7.',
      { value: malleated },
    ],
    ['zero', 'The signature is 64 zero bytes.', { value: () => Buffer.alloc(64).toString('base64') }],
    [
      'identity-point',
      'R is the identity point and S is zero: right for a key of small order only.',
      { value: () => Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]).toString('base64') },
    ],
    [
      'ml-dsa-65-signature',
      'An ML-DSA-65 signature stands where an Ed25519 one must.',
      { key: keys.mlDsa65 },
    ],
  ]
}

/** The text of any signature can be changed so. */
export const spoiled: readonly Row[] = [
  [
    'first-bit',
    'A bit of the first byte of the signature is flipped.',
    { value: bytes((b) => flipped(b, 0)) },
  ],
  [
    'last-bit',
    'A bit of the last byte of the signature is flipped.',
    { value: bytes((b) => flipped(b, b.length - 1)) },
  ],
  ['truncated', 'The signature lacks its last byte.', { value: bytes((b) => b.subarray(0, -1)) }],
  [
    'extended',
    'The signature has a byte too many.',
    { value: bytes((b) => Buffer.concat([b, Buffer.alloc(1)])) },
  ],
  ['twice', 'The signature stands there twice in a row.', { value: bytes((b) => Buffer.concat([b, b])) }],
  ['url-safe', 'The base64 is of the url-safe alphabet.', { value: urlSafe }],
  ['leading-space', 'A space stands before the base64.', { value: (base64) => ` ${base64}` }],
  ['line-break', 'A line break stands after the base64.', { value: (base64) => `${base64}\n` }],
  [
    'wrapped',
    'The base64 is wrapped at 64 characters.',
    { value: (base64) => base64.replace(/^.{64}/, '$&\n') },
  ],
  [
    'hex',
    'The signature is in hexadecimal.',
    { value: (base64) => Buffer.from(base64, 'base64').toString('hex') },
  ],
  ['empty', 'The signature is empty.', { value: () => '' }],
]

function lookAlikes(keyId: string): [id: string, what: string, keyId: string][] {
  return [
    ['lower-case', 'in lower case', keyId.toLowerCase()],
    ['trailing-space', 'with a space after it', `${keyId} `],
    ['leading-space', 'with a space before it', ` ${keyId}`],
    ['nul', 'with a NUL after it', `${keyId}\0`],
    ['cyrillic', 'with a Cyrillic letter that looks like one of its own', keyId.replace('e', 'е')],
    ['path', 'as a path', `../keys/${keyId}`],
    ['percent', 'with a letter percent-encoded', keyId.replace('Z', '%5A')],
    ['file', 'with the name of its file', `${keyId}.public.pem`],
  ]
}

function bytes(change: (signature: Buffer) => Buffer): (base64: string) => string {
  return (base64) => change(Buffer.from(base64, 'base64')).toString('base64')
}

function flipped(signature: Buffer, at: number): Buffer {
  const copy = Buffer.from(signature)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

/** Where the signature happens to need neither letter, the padding goes: url-safe base64 has none. */
function urlSafe(base64: string): string {
  const changed = Buffer.from(base64, 'base64').toString('base64url')
  if (changed === base64) throw new Error('the two alphabets write this signature alike')
  return changed
}

function nextLetter(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  return alphabet[alphabet.indexOf(letter) + 1] ?? ''
}

/** The same signature to whoever does not check that S is below the order of the group. */
function malleated(base64: string): string {
  const L = 2n ** 252n + 27742317777372353535851937790883648493n
  const signature = Buffer.from(base64, 'base64')
  const S = BigInt(`0x${littleEndian(signature.subarray(32)).toString('hex')}`) + L
  const hex = S.toString(16).padStart(64, '0')
  return Buffer.concat([signature.subarray(0, 32), littleEndian(Buffer.from(hex, 'hex'))]).toString('base64')
}

/** Little-endian to big-endian, and back. */
function littleEndian(number: Buffer): Buffer {
  return Buffer.from(number.toReversed())
}
