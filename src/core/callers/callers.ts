// The callers of the service and their keys (decisions §2).
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { ConfigError, describe } from '../errors/config-error.ts'
import type { Json } from '../../formats/json/canonical.ts'
import {
  clashesOf,
  fullCaller,
  type Caller,
  type Clash,
  type StepUpPasskey,
} from '../../formats/people/caller.ts'
import { unclearNames } from '../../formats/people/names.ts'
import { ApproverName } from '../../formats/schemas/approval.ts'
import { CREDENTIAL_ID } from '../../formats/schemas/approver.ts'
import { CallerId, HolderType, KeyHash } from '../../formats/schemas/caller-key.ts'
import { storedInstant, Timestamp } from '../../formats/schemas/primitives.ts'
import { humanKeyJson, readHumanKey } from '../signing/human-key.ts'
import { ed25519PublicKey } from '../signing/keys.ts'
import { readPasskey } from '../../formats/webauthn/assertion.ts'

const strings = () =>
  Type.Array(Type.String({ minLength: 1 }), { description: 'an array of non-empty strings' })

const STEP_UP_PASSKEY =
  'a passkey: {publicKeyPem, rpId, origins, backupEligible, credentialId?}, of Ed25519 or P-256'

const CallerEntry = Type.Object(
  {
    callerId: CallerId,
    keyHash: KeyHash,
    allowedPrincipalIds: Type.Optional(strings()),
    allowedCapabilities: Type.Optional(strings()),
    credentialHolderType: Type.Optional(HolderType),
    stepUpPublicKey: Type.Optional(Type.String({ description: 'a PEM Ed25519 public key' })),
    stepUpPasskey: Type.Optional(Type.Object({}, { description: STEP_UP_PASSKEY })),
    approverId: Type.Optional(ApproverName),
    readAll: Type.Optional(Type.Boolean({ description: 'true or false' })),
    expiresAt: Type.Optional(Timestamp),
  },
  { additionalProperties: false, description: 'an object' },
)
const callerEntry = Compile(CallerEntry)
const credentialIdShape = Compile(Type.String({ pattern: CREDENTIAL_ID }))

/**
 * The entries of SERVICE_API_KEYS (decisions §2). Entries may share a callerId (rotation), never a key; a step-up key belongs
 * to one caller only.
 *
 * @param source prefix of each problem
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
  const callers: { readonly caller: Caller; readonly index: number }[] = []
  for (const [index, entry] of (parsed as unknown[]).entries()) {
    const at = `${source}[${index}]`
    if (!callerEntry.Check(entry)) {
      problems.push(...Array.from(entryMistakes(entry), (mistake) => `${at}${mistake}`))
      continue
    }
    const { stepUpPublicKey: given, stepUpPasskey: givenPasskey, expiresAt, ...others } = entry
    const stepUpPublicKey = given === undefined ? undefined : ed25519Pem(given)
    const stepUpPasskey = givenPasskey === undefined ? undefined : readStepUpPasskey(givenPasskey)
    const caller = fullCaller({
      ...others,
      ...(stepUpPublicKey === undefined ? {} : { stepUpPublicKey }),
      ...(stepUpPasskey === undefined ? {} : { stepUpPasskey }),
      ...(expiresAt === undefined ? {} : { expiresAt: storedInstant(expiresAt) }),
    })
    const twin = callers.find((one) => one.caller.keyHash === entry.keyHash)
    if (twin !== undefined) problems.push(`${at}.keyHash is that of ${source}[${twin.index}] too.`)
    if (given !== undefined && stepUpPublicKey === undefined)
      problems.push(`${at}.stepUpPublicKey must be ${describe(CallerEntry, 'stepUpPublicKey')}.`)
    if (givenPasskey !== undefined && stepUpPasskey === undefined)
      problems.push(`${at}.stepUpPasskey must be ${describe(CallerEntry, 'stepUpPasskey')}.`)
    problems.push(...unclearNames(caller.allowedPrincipalIds, `${at}.allowedPrincipalIds`))
    if (entry.approverId !== undefined && entry.credentialHolderType !== 'USER')
      problems.push(`${at}.approverId is for callers whose credentialHolderType is USER.`)
    const clashes = new Map<Clash, (typeof callers)[number]>()
    for (const one of callers)
      for (const clash of clashesOf(caller, one.caller)) if (!clashes.has(clash)) clashes.set(clash, one)
    for (const [clash, other] of clashes)
      problems.push(
        clash === 'callerId'
          ? `${at}.callerId '${entry.callerId}' and '${other.caller.callerId}' of ${source}[${other.index}] differ only in case.`
          : `${at}.${clash} is that of ${source}[${other.index}], another caller.`,
      )
    callers.push({ caller, index })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return callers.map(({ caller }) => caller)
}

/** 32 random bytes, base64url, prefixed `csk_`: scanners find a leaked key by its prefix. */
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

/** The passkey with exactly its members, its key in normalized form; undefined if it is not a passkey. */
export function readStepUpPasskey(given: object): StepUpPasskey | undefined {
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

/** Normalized SPKI; undefined if it is not an Ed25519 public key. A private key is refused too: here it would be a leak. */
export function ed25519Pem(pem: string): string | undefined {
  try {
    return ed25519PublicKey('step-up', pem).pem
  } catch {
    return undefined
  }
}
