// Changed copies of the published evidence and key sets, made at random from a seed: what no table thinks of. Some are signed again
// after the change by the keys of the vectors, so that hash and signature hold and only the meaning is another one.
import type { Asked } from './answers.ts'
import type { Case } from './case.ts'
import type { Json, Members } from './edit.ts'
import { description } from './bundles/plan.ts'
import { originOf, signAt, type Place } from './batches.ts'
import { receiptBy, receipted, receiptMembers, sealedBy, sealRefusal, signEvent } from './evidence.ts'
import { keySetCases } from './key-sets.ts'
import {
  canonical,
  humanKeysJson,
  humans,
  keys,
  modes,
  publicKeyJson,
  sha256,
  sign,
  type Key,
  type Signature,
} from './keys.ts'
import { readCases } from './published.ts'

/** A number from 0 to 1, 1 excluded: the same ones for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

class Chance {
  readonly #next: () => number
  constructor(seed: number) {
    this.#next = random(seed)
  }
  of(share: number): boolean {
    return this.#next() < share
  }
  below(n: number): number {
    return Math.floor(this.#next() * n)
  }
  one<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)]
    if (found === undefined) throw new Error('nothing to choose from')
    return found
  }
}

const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  9007199254740994,
  '',
  'x',
  '1',
  'ed25519',
  'ml-dsa-65',
  'rsa',
  'ed25519-batch',
  'ml-dsa-65-batch',
  'constructor',
  '__proto__x',
  keys.ed25519.keyId,
  keys.oldEd25519.keyId,
  keys.mlDsa65.keyId,
  'dana:laptop',
  'zoe:step-up',
  'alice',
  ':',
  'AAAA',
  Buffer.alloc(64).toString('base64'),
  Buffer.alloc(32).toString('base64'),
  originOf('mutations'),
  '2026-11-21T01:00:00Z',
  '2026-02-30T00:00:00Z',
  '\u001b[2J\u009b\u202e\u2028',
  '\ufb01\u{1f600}',
  [],
  {},
  [null],
  [[]],
  { keyId: {} },
  { a: { b: [1, 2, { c: null }] } },
]
const NAMES = [
  'extra',
  'approvedBy',
  '1',
  '',
  'keyId',
  'batch',
  'signature',
  'signatures',
  'requiredAlgorithms',
  'verificationCount',
  'publicKeys',
  'completeUntil',
  'signedAt',
  'url',
  'receiptCount',
  'receiptId',
  'event',
  'events',
  'request',
  'requestHash',
  'closed',
  'd',
  'use',
  '\u202e',
]

/** Every object and list within a value, itself included. */
function parents(value: Json): (Members | Json[])[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(parents)]
}

/** Changes the value in place, somewhere. */
function mutate(value: Json, chance: Chance): void {
  const parent = chance.one(parents(value))
  const names = Object.keys(parent)
  const within = parent as Members
  if (names.length === 0 || chance.of(0.12)) {
    if (Array.isArray(parent)) parent.push(chance.one(VALUES))
    else parent[chance.one(NAMES)] = structuredClone(chance.one(VALUES))
    return
  }
  const name = chance.one(names)
  const member = within[name] as Json
  switch (chance.below(7)) {
    case 0:
      if (Array.isArray(parent)) parent.splice(Number(name), 1)
      else Reflect.deleteProperty(parent, name)
      return
    case 1:
      within[name] = structuredClone(chance.one(VALUES))
      return
    case 2: // the value of a neighbour
      within[name] = structuredClone(within[chance.one(names)] as Json)
      return
    case 3:
      if (Array.isArray(parent)) parent.push(structuredClone(member))
      else within[`${name} `] = structuredClone(member)
      return
    case 4: {
      const other = chance.one(names)
      within[name] = within[other] as Json
      within[other] = member
      return
    }
    default:
      within[name] = nudged(member, chance)
  }
}

/** A value that is nearly the same. */
function nudged(value: Json, chance: Chance): Json {
  if (typeof value === 'number') return chance.one([value + 1, -value, value / 3, String(value)])
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return Array.isArray(value) ? value.toReversed() : [value]
  const at = chance.below(value.length + 1)
  return chance.one([
    value.slice(0, at) + value.slice(at + 1),
    `${value.slice(0, at)}${chance.one(['a', '=', ' ', ':', '\u0000', '\u009b', '9'])}${value.slice(at)}`,
    value.toUpperCase(),
    value.toLowerCase(),
    `${value}=`,
    value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1),
  ])
}

/** Spoils a text in a way that its value does not show. */
function spoilText(text: string, chance: Chance): string {
  const at = chance.below(text.length)
  return chance.one([
    () => text.slice(0, at),
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.slice(0, at) + chance.one(['"', '{', '}', ',', ':', '0', '\\', '\u0001']) + text.slice(at),
    () => `\ufeff${text}`,
    () => `${text} ${chance.one(['', '\n', '{}', '\u00a0', '\f'])}`,
    () => text.replace(/":(\d+)([,}])/, '":$1.0$2'),
    () => text.replace(/":(\d+)([,}])/, '":$1e0$2'),
    () => text.replace(/":(\d+)([,}])/, '":0$1$2'),
    () => text.replace(/":(\d+)([,}])/, '":-0$2'),
    () =>
      text.replace(
        /":"(\w)/,
        (_, letter: string) => `":"\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    () => text.replace(/":"/, String.raw`":"\ud800`),
    () => text.replace('{', '{"x":1,"x":2,'),
    () => text.replace('{', '{"__proto__":1,'),
    () => text.replace('{', `{"x":${'['.repeat(75 + chance.below(10))}${']'.repeat(79)},`),
    () => {
      const depth = 75 + chance.below(10)
      return text.replace('{', `{"x":${'['.repeat(depth)}${']'.repeat(depth)},`)
    },
  ])()
}

/** Signed again by the keys of the vectors, as what it is. */
function resigned(artifact: Case['artifact'], evidence: Members, chance: Chance): Members {
  const without = (...names: string[]): Members =>
    Object.fromEntries(Object.entries(evidence).filter(([name]) => !names.includes(name)))
  const signers = 'requiredAlgorithms' in evidence ? modes.hybrid : modes.ed25519
  switch (artifact) {
    case 'trust-record': {
      inner(evidence, chance)
      const { signature = null, signatures } = evidence
      const body = without('trustRecordHash', 'signature', 'signatures', 'verifications', 'receipts')
      const carried = Array.isArray(signatures) ? signatures : [signature]
      const sealed = sealedBy(body, signedAgain('trust-record', canonical(body), signers, carried))
      return receipted(sealed, signers)
    }
    case 'receipt': {
      const content = without(
        'receiptHash',
        'signature',
        'signatures',
        'requiredAlgorithms',
        'algorithm',
        'keyId',
      )
      const signed = receiptMembers(content, signers)
      return receiptBy(signed, signedAgain('receipt', canonical(signed), signers, evidence['signatures']))
    }
    case 'refusal-record':
      return sealRefusal(without('refusalRecordHash', 'signature'))
    case 'audit-event':
      return signEvent(evidence['event'] as Members)
    case 'intent-transition':
      return {
        ...evidence,
        signature: sign('intent-transition', canonical(evidence['transition'] as Json), keys.ed25519),
      }
    case 'provider-confirmation':
      return {
        ...evidence,
        signature: sign('provider-confirmation', canonical(evidence['confirmation'] as Json), keys.ed25519),
      }
    case 'approval-request':
      return resignedRequest(evidence, chance)
    case 'approval-request-close':
      return signedBeside('approval-request-close', evidence)
    case 'approval-request-note':
      return signedBeside('approval-request-note', evidence)
    case 'governance-change':
      return resignedChange(evidence, chance)
    default:
      throw new Error(`no ${artifact as string} is signed again`)
  }
}

/** By the keys that are due: where the carried signature claims a place in a batch, the head that the place leads to. */
function signedAgain(
  artifact: string,
  text: string,
  signers: readonly Key[],
  carried: Json | undefined,
): Signature[] {
  return signers.map((due, i) => {
    const place = (carried as (Members | null)[] | undefined)?.[i]?.['batch']
    return isPlace(place) ? signAt(artifact, text, due, place) : sign(artifact, text, due)
  })
}

/** So far that a head can be made of it. */
function isPlace(value: Json | undefined): value is Place & Members {
  return typeof value === 'object' && value !== null && 'origin' in value && 'path' in value
}

function resignedChange(evidence: Members, chance: Chance): Members {
  const { changeId, kind, target, proposed, reason, proposedBy, proposedAt } = evidence
  const shown = { changeId, kind, target, proposed, reason, proposedBy, proposedAt } as Members
  const changeHash = chance.of(0.5) ? sha256(canonical(shown)) : (evidence['changeHash'] as Json)
  inner(evidence, chance)
  const { signature: _, warnings, diff, ...members } = { ...evidence, changeHash } as Members
  const advice = Object.entries({ warnings, diff }).filter(([, member]) => member !== undefined)
  const signature = sign('governance-change', canonical(members), keys.ed25519)
  return { ...members, signature, ...Object.fromEntries(advice as [string, Json][]) }
}

function resignedRequest(evidence: Members, chance: Chance): Members {
  const { request = null, closed, notes } = evidence
  const requestHash = chance.of(0.7) ? sha256(canonical(request)) : (evidence['requestHash'] as Json)
  const signature = sign('approval-request', canonical(request), keys.ed25519)
  const said: Record<string, Json> = {}
  if (isObject(closed)) said['closed'] = signedBeside('approval-request-close', closed)
  if (Array.isArray(notes))
    said['notes'] = notes.map((one: Json) =>
      isObject(one) ? signedBeside('approval-request-note', one) : one,
    )
  return { ...evidence, requestHash, ...said, signature }
}

const isObject = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Signs an object anew whose signature stands next to its members. */
function signedBeside(artifact: string, whole: Members): Members {
  const { signature: _, ...members } = whole
  return { ...members, signature: sign(artifact, canonical(members), keys.ed25519) }
}

/** Signatures within evidence, made anew: of an authorization, an approval or a step-up. */
function inner(evidence: Members, chance: Chance): void {
  for (const part of parents(evidence)) {
    if (Array.isArray(part) || !('payload' in part) || !('signature' in part) || chance.of(0.3)) continue
    const payload = part['payload'] as Members
    const { approverId, keyId } = payload
    const names = JSON.stringify([approverId, keyId])
    const human = Object.values(humans).find((one) => JSON.stringify(one.keyId.split(':')) === names)
    const [artifact, key]: [string, Key] =
      'capability' in payload
        ? ['approval', human ?? humans.dana]
        : 'changeHash' in payload
          ? ['step-up', humans.aliceStepUp]
          : ['execution-authorization', keys.ed25519]
    const [signed] = signedAgain(artifact, canonical(payload), [key], [part])
    part['signature'] = signed?.value ?? null
  }
}

/** Picks the published evidence that can be changed: evidence that is valid, or that only lacks a key. */
function basesOf(file: string): readonly Case[] {
  return readCases(file).filter((one) => 'evidence' in one && (one.valid || one.unchecked !== undefined))
}

/** How often a mutation is of each: records take the most time, and have the most to get wrong. */
const SHARES: readonly string[] = [
  ...Array.from({ length: 11 }, () => 'trust-records'),
  ...Array.from({ length: 6 }, () => 'receipts'),
  ...Array.from({ length: 4 }, () => 'refusal-records'),
  ...Array.from({ length: 3 }, () => 'audit-events'),
  ...Array.from({ length: 4 }, () => 'governance-changes'),
  ...Array.from({ length: 3 }, () => 'intent-transitions'),
  ...Array.from({ length: 3 }, () => 'provider-confirmations'),
  ...Array.from({ length: 4 }, () => 'approval-requests'),
  'approval-request-closes',
  'approval-request-notes',
  ...Array.from({ length: 5 }, () => 'bundles'),
]

const bases = new Map([...new Set(SHARES)].map((file) => [file, basesOf(file)]))

function aMutant(chance: Chance): { readonly artifact: Case['artifact']; readonly evidence: Members } {
  const base = chance.one(bases.get(chance.one(SHARES)) ?? [])
  const evidence = structuredClone((base as unknown as { evidence: Members }).evidence)
  const isResigned = chance.of(0.45)
  const places = parents(evidence).filter(isPlace)
  for (let n = chance.below(isResigned ? 3 : 2); n >= 0; n--)
    if (!chance.of(0.06)) mutate(places.length > 0 && chance.of(0.5) ? chance.one(places) : evidence, chance)
  if (!isResigned) return { artifact: base.artifact, evidence }
  try {
    return { artifact: base.artifact, evidence: resigned(base.artifact, evidence, chance) }
  } catch {
    // A member that is missing cannot be signed: the evidence goes out as it is.
    return { artifact: base.artifact, evidence }
  }
}

function aFile(chance: Chance): string {
  if (!chance.of(0.08)) {
    const text = JSON.stringify(aMutant(chance).evidence)
    return chance.of(0.1) ? spoilText(text, chance) : text
  }
  const entries: Json[] = Array.from({ length: chance.below(4) }, () =>
    chance.of(0.2) ? chance.one(VALUES) : aMutant(chance).evidence,
  )
  return JSON.stringify(
    chance.one<Json>([
      entries,
      entries,
      { events: entries },
      { changes: entries },
      { requests: entries },
      { events: entries, changes: [] },
      { changes: entries, next: 'x', [chance.one(NAMES)]: chance.one(VALUES) },
      { refusals: entries, ...aMutant(chance).evidence },
      { record: aMutant(chance).evidence, confirmations: entries },
    ]),
  )
}

/** Draws what the reader trusts of logs: as published, with a change, as a policy of its first log, or nothing. */
function someLog(chance: Chance): string | null {
  const changed = structuredClone(description)
  mutate(changed, chance)
  const [vkey] = (description['logs'] as Members[]).flatMap(({ vkeys }) => vkeys as string[])
  return chance.one([
    ...Array.from({ length: 5 }, () => JSON.stringify(description)),
    JSON.stringify(changed),
    `log ${vkey}\nquorum none\n`,
    null,
  ])
}

/** Which keys there are: all, all but one, or none of the humans'. */
function someKeys(chance: Chance): string[] {
  const service = Object.values(keys).map(publicKeyJson)
  const all: Json[] = [...service, ...humanKeysJson()]
  const kept = chance.one([all, all, service, all.filter((_, i) => i !== chance.below(all.length))])
  return [JSON.stringify({ keys: kept })]
}

const keySets = keySetCases()

function changedKeys(chance: Chance): string[] {
  const files = [...chance.one(keySets).files]
  const at = chance.below(files.length)
  let text = files[at] ?? ''
  try {
    const value = JSON.parse(text) as Json
    if (typeof value === 'object' && value !== null) mutate(value, chance)
    text = JSON.stringify(value)
  } catch {
    // No JSON: its text is changed.
  }
  files[at] = chance.of(0.15) ? spoilText(text, chance) : text
  return files
}

/** @param options.count how many mutations: a sixth of them key sets, the others files */
export function mutations({ seed, count }: { readonly seed: number; readonly count: number }): Asked[] {
  const chance = new Chance(seed)
  const ofKeys: Asked[] = Array.from({ length: Math.floor(count / 6) }, () => ({
    files: changedKeys(chance),
  }))
  const ofFiles: Asked[] = []
  for (let i = ofKeys.length; i < count; i++) {
    if ((i - ofKeys.length) % 100 === 0) ofFiles.push({ files: someKeys(chance) })
    ofFiles.push({ text: aFile(chance), log: someLog(chance) })
  }
  return [...ofKeys, ...ofFiles]
}
