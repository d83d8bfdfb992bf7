// The callers of the service and their keys (decisions §2).
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { ConfigError, describe, oneOf, text } from './config-schema.ts'
import type { Json } from './json/canonical.ts'
import { CREDENTIAL_ID } from './schemas/approver.ts'
import { humanKeyJson, readHumanKey } from './signing/human-key.ts'
import { ed25519PublicKey } from './signing/keys.ts'
import { readPasskey } from './webauthn/assertion.ts'

/** A passkey by which a human resolves changes. */
export type StepUpPasskey = {
  /** PEM, Ed25519 or P-256. */
  readonly publicKeyPem: string
  readonly rpId: string
  readonly origins: readonly string[]
  readonly backupEligible: boolean
  /** base64url: which passkey a page asks; undefined: the human chooses. */
  readonly credentialId?: string
}

/** One entry of SERVICE_API_KEYS with its defaults filled in. Scope belongs to the key: two keys of a caller may differ. */
export interface Caller {
  readonly callerId: string
  /** SHA-256 of the raw key, 64 lowercase hex characters. */
  readonly keyHash: string
  readonly allowedPrincipalIds: readonly string[]
  /** As configured, `*` included. */
  readonly allowedCapabilities: readonly string[]
  readonly unrestrictedCapabilities: boolean
  readonly credentialHolderType: 'USER' | 'ROLE' | 'SERVICE' | 'ORGANIZATION'
  /** PEM, Ed25519. */
  readonly stepUpPublicKey?: string
  readonly stepUpPasskey?: StepUpPasskey
  /** The approver that this human is: whose inbox they see, and as whom they may decline. It approves nothing. */
  readonly approverId?: string
  readonly readAll: boolean
}

/** The owner whose rows a caller may read; null for humans, auditors and disabled authentication, who read everybody's (decisions §2). */
export function readableOwner(caller: Caller | undefined): string | null {
  if (caller === undefined || caller.readAll || caller.credentialHolderType === 'USER') return null
  return caller.callerId
}

const strings = () =>
  Type.Array(Type.String({ minLength: 1 }), { description: 'an array of non-empty strings' })

const STEP_UP_PASSKEY =
  'a passkey: {publicKeyPem, rpId, origins, backupEligible, credentialId?}, of Ed25519 or P-256'

/** `anonymous` is what records say when authentication is disabled (decisions §2): no key may speak under that name. */
const CallerEntry = Type.Object(
  {
    callerId: text(
      '^(?!anonymous$)[!-~]{1,128}$',
      "1 to 128 printable ASCII characters without spaces, and not 'anonymous'",
    ),
    keyHash: text('^[0-9a-f]{64}$', 'the SHA-256 of the raw key, 64 lowercase hex characters'),
    allowedPrincipalIds: Type.Optional(strings()),
    allowedCapabilities: Type.Optional(strings()),
    credentialHolderType: Type.Optional(oneOf('USER', 'ROLE', 'SERVICE', 'ORGANIZATION')),
    stepUpPublicKey: Type.Optional(Type.String({ description: 'a PEM Ed25519 public key' })),
    stepUpPasskey: Type.Optional(Type.Object({}, { description: STEP_UP_PASSKEY })),
    approverId: Type.Optional(text('^[A-Za-z0-9._@-]{1,64}$', '1 to 64 letters, digits or . _ @ -')),
    readAll: Type.Optional(Type.Boolean({ description: 'true or false' })),
  },
  { additionalProperties: false, description: 'an object' },
)
const callerEntry = Compile(CallerEntry)
const credentialIdShape = Compile(Type.String({ pattern: CREDENTIAL_ID }))

/**
 * The entries of SERVICE_API_KEYS (decisions §2). Entries may share a callerId (rotation), never a key; a step-up key is one
 * caller's alone.
 *
 * @param source what the problems begin with
 * @throws ConfigError with every mistake, by index and member
 */
export function parseCallers(json: string, source = 'SERVICE_API_KEYS'): Caller[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch {
    // The parser's own message quotes its input.
  }
  if (!Array.isArray(parsed) || parsed.length === 0)
    throw new ConfigError([`${source} must be a JSON array with at least one caller.`])

  const problems: string[] = []
  const callers: Caller[] = []
  const indexOf = new Map<string, number>()
  const spelled = new Map<string, { readonly callerId: string; readonly index: number }>()
  const holderOf = new Map<string, { readonly callerId: string; readonly index: number }>()
  const personOf = new Map<string, { readonly callerId: string; readonly index: number }>()
  for (const [index, entry] of (parsed as unknown[]).entries()) {
    const at = `${source}[${index}]`
    if (!callerEntry.Check(entry)) {
      problems.push(...Array.from(entryMistakes(entry), (mistake) => `${at}${mistake}`))
      continue
    }
    const earlier = indexOf.get(entry.keyHash)
    if (earlier !== undefined) problems.push(`${at}.keyHash is that of ${source}[${earlier}] too.`)
    indexOf.set(entry.keyHash, index)
    const folded = entry.callerId.toLowerCase()
    const namesake = spelled.get(folded) ?? { callerId: entry.callerId, index }
    // Two names that a reader takes for one: they could be the two humans of a change (decisions §7).
    if (namesake.callerId !== entry.callerId)
      problems.push(
        `${at}.callerId '${entry.callerId}' and '${namesake.callerId}' of ${source}[${namesake.index}] differ only in case.`,
      )
    spelled.set(folded, namesake)
    if (entry.stepUpPublicKey !== undefined) {
      const pem = ed25519Pem(entry.stepUpPublicKey)
      if (pem === undefined)
        problems.push(`${at}.stepUpPublicKey must be ${describe(CallerEntry, 'stepUpPublicKey')}.`)
      else {
        const holder = holderOf.get(pem) ?? { callerId: entry.callerId, index }
        // Two names for one human would let that human approve what he proposed himself (decisions §7).
        if (holder.callerId !== entry.callerId)
          problems.push(`${at}.stepUpPublicKey is that of ${source}[${holder.index}], another caller.`)
        holderOf.set(pem, holder)
      }
    }
    const passkey = entry.stepUpPasskey === undefined ? undefined : stepUpPasskey(entry.stepUpPasskey)
    if (entry.stepUpPasskey !== undefined) {
      const holder = holderOf.get(passkey?.publicKeyPem ?? '') ?? { callerId: entry.callerId, index }
      if (passkey === undefined)
        problems.push(`${at}.stepUpPasskey must be ${describe(CallerEntry, 'stepUpPasskey')}.`)
      else if (holder.callerId !== entry.callerId)
        problems.push(`${at}.stepUpPasskey is that of ${source}[${holder.index}], another caller.`)
      if (passkey !== undefined) holderOf.set(passkey.publicKeyPem, holder)
    }
    if (entry.approverId !== undefined) {
      if (entry.credentialHolderType !== 'USER')
        problems.push(`${at}.approverId is for callers whose credentialHolderType is USER.`)
      const person = personOf.get(entry.approverId) ?? { callerId: entry.callerId, index }
      if (person.callerId !== entry.callerId)
        problems.push(`${at}.approverId is that of ${source}[${person.index}], another caller.`)
      personOf.set(entry.approverId, person)
    }
    const { stepUpPasskey: _, ...others } = entry
    callers.push({
      allowedPrincipalIds: [entry.callerId],
      allowedCapabilities: [],
      credentialHolderType: 'SERVICE',
      readAll: false,
      ...others,
      ...(passkey === undefined ? {} : { stepUpPasskey: passkey }),
      unrestrictedCapabilities: entry.allowedCapabilities?.includes('*') ?? false,
    })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return callers
}

/** 32 random bytes, base64url, prefixed `csk_`: a leaked one is found by its prefix. */
export function makeRawKey(): string {
  return `csk_${randomBytes(32).toString('base64url')}`
}

function entryMistakes(entry: unknown): Set<string> {
  const mistakes = new Set<string>()
  for (const error of callerEntry.Errors(entry)) {
    const member = error.instancePath.split('/')[1]
    if (error.keyword === 'required')
      for (const name of error.params.requiredProperties) mistakes.add(`.${name} is required.`)
    else if (error.keyword === 'additionalProperties')
      for (const name of error.params.additionalProperties)
        mistakes.add(`.${name} is not a member of a caller.`)
    else if (member === undefined) mistakes.add(' must be an object.')
    else if (Object.hasOwn(CallerEntry.properties, member))
      mistakes.add(`.${member} must be ${describe(CallerEntry, member)}.`)
  }
  return mistakes
}

/** Exactly its members, its key in one notation; undefined for what is no passkey. */
function stepUpPasskey(given: object): StepUpPasskey | undefined {
  const { publicKeyPem, credentialId, ...members } = given as Record<string, Json>
  if (credentialId !== undefined && !credentialIdShape.Check(credentialId)) return undefined
  const known = ['rpId', 'origins', 'backupEligible']
  if (typeof publicKeyPem !== 'string' || Object.keys(members).some((name) => !known.includes(name)))
    return undefined
  try {
    return {
      publicKeyPem: humanKeyJson(readHumanKey('step-up', publicKeyPem, members)).pem,
      ...readPasskey(members),
      ...(credentialId === undefined ? {} : { credentialId }),
    }
  } catch {
    return undefined
  }
}

/** SPKI in one notation; undefined for what is no Ed25519 public key. A private key is none: here that is a leak. */
function ed25519Pem(pem: string): string | undefined {
  try {
    return ed25519PublicKey('step-up', pem).pem
  } catch {
    return undefined
  }
}
