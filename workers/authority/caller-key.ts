// Changes of callers' keys (docs/handbook/callers.md): one human proposes to issue or to revoke a key, another approves it. Only the hash of a key
// ever gets here.
import type { Static } from 'typebox'
import { readNamings } from '../../src/core/callers/authority-state.ts'
import { callerKeys } from '../../src/core/callers/caller-keys.ts'
import { issuerOfName, type TokenIssuer } from '../../src/core/callers/token-issuers.ts'
import { ed25519Pem, readStepUpPasskey } from '../../src/core/callers/callers.ts'
import {
  canApproveChanges,
  clashesOf,
  fullCaller,
  keyIdOf,
  type Caller,
  type StepUpPasskey,
} from '../../src/formats/people/caller.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { lookalikeWarnings, quoted, unclearNames } from '../../src/formats/people/names.ts'
import {
  joinPersons,
  namingOfCaller,
  otherHolder,
  personOf,
  type Naming,
} from '../../src/formats/people/persons.ts'
import { CallerKeyProposal } from '../../src/formats/schemas/caller-key.ts'
import { storedInstant } from '../../src/formats/schemas/primitives.ts'
import { begin, end, insert } from '../../src/store/tables/authority.ts'
import {
  callerKeysInEffect,
  NAMING,
  readCallerKeys,
  type CallerKeyRow,
  type StoredCallerKey,
} from '../../src/store/tables/caller-keys.ts'
import { countOpenChangesOf } from '../../src/store/tables/pending-changes.ts'
import { takeLocks, type Sql } from '../../src/store/postgres/sql.ts'
import { siteProblem } from '../../src/core/config/webauthn-site.ts'
import type { ChangeKind } from './change-kind.ts'

/** With every default filled in: a checker is shown all that the key will allow. A type, because the compiler does not take an interface for JSON. */
type Issue = {
  readonly action: 'issue'
  readonly callerId: string
  readonly keyHash: string
  readonly allowedPrincipalIds: readonly string[]
  readonly allowedCapabilities: readonly string[]
  readonly credentialHolderType: Caller['credentialHolderType']
  readonly readAll: boolean
  readonly stepUpPublicKey?: string
  readonly stepUpPasskey?: StepUpPasskey
  readonly approverId?: string
  /** ISO 8601. */
  readonly expiresAt?: string
}

type Revoke = {
  readonly action: 'revoke'
  readonly callerId: string
  readonly keyId: string
  /** Filled in by the service: the key that is meant. */
  readonly keyHash?: string
  /** Filled in where the key is a human's who can approve changes: how many such humans there are without it. */
  readonly humansLeft?: number
}

/** Each request is compared with every key, at 0.09 µs each. */
const KEYS_MAX = 500
/** Every thread keeps the permissions of every key. */
const SCOPE_BYTES_MAX = 8_192
/** One human proposes, and another one approves. */
const HUMANS_NEEDED = 2

const proposalOf = bodyOf(CallerKeyProposal)

/**
 * @param configured the entries of SERVICE_API_KEYS of this instance
 * @param tokenIssuers the entries of SERVICE_TOKEN_ISSUERS: their callers' names are not given to keys
 */
export function callerKeyChanges(
  configured: readonly Caller[],
  tokenIssuers: readonly TokenIssuer[],
): ChangeKind<Issue | Revoke> {
  return {
    read(body) {
      const proposal = proposalOf(body)
      if (proposal instanceof Failure) return proposal
      const proposed = proposal.action === 'issue' ? issueOf(proposal) : revokeOf(proposal)
      if (proposed instanceof Failure) return proposed
      return { target: targetOf(proposed), proposed, reason: proposal.reason }
    },
    check: (change) =>
      Promise.resolve(
        change.action === 'issue' ? (alreadyOver(change) ?? nameOfToken(change, tokenIssuers)) : undefined,
      ),
    async examine({ proposed, proposedBy }, sql) {
      const standing = await readStanding(sql, configured)
      if (proposed.action === 'revoke') {
        const revoke = completed(proposed, standing)
        if (revoke instanceof Failure) return revoke
        return { proposed: revoke, warnings: await revocationWarnings(revoke, standing, sql) }
      }
      const refused = contradiction(proposed, standing)
      return refused ?? { proposed, warnings: issueWarnings(proposed, standing, proposedBy) }
    },
    async apply(change, sql) {
      const { proposed, target } = change
      await takeLocks(sql, [NAMING])
      const standing = await readStanding(sql, configured)
      if (proposed.action === 'issue') {
        const refused = contradiction(proposed, standing)
        if (refused !== undefined) return refused
        const isIssued = await begin(sql, 'caller-key', change)
        return isIssued ? undefined : failures.conflict(`The key ${target} is known already.`)
      }
      const now = completed(proposed, standing)
      if (now instanceof Failure) return now
      const { callerId, keyHash = '', humansLeft = HUMANS_NEEDED } = now
      if (humansLeft < Math.min(proposed.humansLeft ?? HUMANS_NEEDED, HUMANS_NEEDED))
        return failures.conflict(
          `${humansSay(humansLeft)} by now, fewer than the change says: propose it again.`,
        )
      const [ended] = await end(sql, 'caller-key', { ...change, targets: [target] })
      // A key of SERVICE_API_KEYS never began here.
      const isRevoked =
        ended !== undefined ||
        (await insert(sql, 'caller-key', {
          stated: canonicalize({ callerId, keyHash }),
          key: target,
          ended: change,
        }))
      return isRevoked ? undefined : failures.conflict(`The key ${target} is revoked already.`)
    },
  }
}

function targetOf(change: Issue | Revoke): string {
  return `${change.callerId}:${change.action === 'issue' ? keyIdOf(change.keyHash) : change.keyId}`
}

type Given<Action extends string> = Extract<Static<typeof CallerKeyProposal>, { action: Action }>

function issueOf(given: Given<'issue'>): Issue | Failure {
  const { reason: _, stepUpPublicKey, stepUpPasskey, expiresAt, ...others } = given
  const isHuman = given.credentialHolderType === 'USER'
  for (const member of ['stepUpPublicKey', 'stepUpPasskey', 'approverId'] as const)
    if (given[member] !== undefined && !isHuman)
      return failures.invalidField(`${member} is for callers whose credentialHolderType is USER.`)
  if (given.allowedPrincipalIds?.includes('*') === true)
    return failures.invalidField("allowedPrincipalIds has no '*' for all: name each principal.")
  const [unclear] = unclearNames(given.allowedPrincipalIds ?? [], 'allowedPrincipalIds')
  if (unclear !== undefined) return failures.invalidField(unclear)
  const pem = stepUpPublicKey && ed25519Pem(stepUpPublicKey)
  if (stepUpPublicKey !== undefined && pem === undefined)
    return failures.invalidField('stepUpPublicKey must be a PEM Ed25519 public key.')
  const passkey = stepUpPasskey && readStepUpPasskey(stepUpPasskey)
  if (stepUpPasskey !== undefined && passkey === undefined)
    return failures.invalidField('stepUpPasskey.publicKeyPem must be a PEM public key of Ed25519 or P-256.')
  const unusable = passkey && siteProblem(passkey, 'stepUpPasskey')
  if (unusable !== undefined) return failures.invalidField(unusable)
  const { unrestrictedCapabilities: _1, ...full } = fullCaller(others)
  const issue: Issue = {
    ...full,
    action: 'issue',
    ...(pem === undefined ? {} : { stepUpPublicKey: pem }),
    ...(passkey === undefined ? {} : { stepUpPasskey: passkey }),
    ...(expiresAt === undefined ? {} : { expiresAt: storedInstant(expiresAt) }),
  }
  return Buffer.byteLength(canonicalize(issue)) > SCOPE_BYTES_MAX
    ? failures.invalidField(`the scope must be at most ${SCOPE_BYTES_MAX} bytes of JSON in all.`)
    : issue
}

function revokeOf({ action, callerId, keyId }: Given<'revoke'>): Revoke {
  return { action, callerId, keyId }
}

function alreadyOver({ expiresAt }: Issue): Failure | undefined {
  return expiresAt === undefined || Date.parse(expiresAt) > Date.now()
    ? undefined
    : failures.invalidField('expiresAt must be in the future.')
}

function nameOfToken({ callerId }: Issue, tokenIssuers: readonly TokenIssuer[]): Failure | undefined {
  const issuer = issuerOfName(callerId, tokenIssuers)
  return issuer === undefined
    ? undefined
    : failures.invalidField(`callerId must not be a name of the callers by token of ${issuer}.`)
}

/** The keys in effect that have not expired, and the stored keys by which they are determined. */
interface Standing {
  readonly inEffect: readonly Caller[]
  readonly configured: readonly Caller[]
  readonly stored: readonly StoredCallerKey[]
  /** Every key that governance has issued or revoked. */
  readonly known: readonly CallerKeyRow[]
  /** The namings of every register. */
  readonly namings: readonly Naming[]
}

async function readStanding(sql: Sql, configured: readonly Caller[]): Promise<Standing> {
  const known = await readCallerKeys(sql)
  const stored = callerKeysInEffect(known, configured)
  const now = new Date().toISOString()
  const inEffect = callerKeys(configured, stored)
    .inEffect.map(({ caller }) => caller)
    .filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
  return { inEffect, configured, stored, known, namings: await readNamings(sql, configured) }
}

/**
 * Finds an earlier key, of all that were ever issued, for which this one could be taken: by its keyId, its caller's name in another case, a step-up
 * key, the approver.
 */
function contradiction(issue: Issue, standing: Standing): Failure | undefined {
  const keyId = keyIdOf(issue.keyHash)
  const { callerId } = issue
  const known = [...standing.configured, ...standing.known].find((one) => keyIdOf(one.keyHash) === keyId)
  if (known !== undefined)
    return failures.conflict(`The key ${known.callerId}:${keyId} is known already; a key is issued once.`)
  const past = standing.known.map(({ caller, isRevoked, callerId: id }) => {
    if (caller === undefined || !isRevoked) return caller ?? { callerId: id }
    // The approver of a revoked key may go by another name now; a step-up key stays one person's.
    const { approverId: _, ...others } = caller
    return others
  })
  for (const other of [...standing.configured, ...past]) {
    const [clash] = clashesOf(issue, other)
    if (clash === 'callerId')
      return failures.conflict(`callerId '${callerId}' and '${other.callerId}' differ only in case.`)
    if (clash !== undefined)
      return failures.conflict(`${clash} is that of '${other.callerId}', another caller.`)
  }
  const holder = otherHolder(standing.namings, namingOfCaller(issue))
  if (holder !== undefined) return failures.conflict(`The step-up key is that of ${holder}, another person.`)
  const issued = standing.inEffect.filter((one) => !standing.configured.includes(one))
  return issued.length < KEYS_MAX
    ? undefined
    : failures.conflict(`${KEYS_MAX} keys are issued and in effect, which is as many as may be: revoke some.`)
}

/**
 * @returns the revocation with the key that is meant and the humans that it leaves; or a 409 where there is no such key. An instance whose
 *   configuration differs from that of the proposing one revokes the key that the change names
 */
function completed(
  { action, callerId, keyId, keyHash: named }: Revoke,
  standing: Standing,
): Revoke | Failure {
  const isMeant = (one: { readonly callerId: string; readonly keyHash: string }) =>
    one.callerId === callerId && keyIdOf(one.keyHash) === keyId
  // An expired key, or an entry that is refused for another reason, may be revoked too: it never comes back then.
  const keyHash = named ?? [...standing.stored, ...standing.configured].find(isMeant)?.keyHash
  if (keyHash === undefined || standing.stored.some((one) => one.keyHash === keyHash && one.isRevoked))
    return failures.conflict(`No key ${callerId}:${keyId} is in effect.`)
  const isHumans = standing.inEffect.some((one) => one.keyHash === keyHash && canApproveChanges(one))
  const humansLeft = countHumans(
    standing.inEffect.filter((one) => one.keyHash !== keyHash),
    standing,
  )
  return { action, callerId, keyId, keyHash, ...(isHumans ? { humansLeft } : {}) }
}

/** How many persons can approve changes. */
function countHumans(callers: readonly Caller[], { namings }: Pick<Standing, 'namings'>): number {
  const persons = joinPersons(namings)
  return new Set(callers.filter(canApproveChanges).map(({ callerId }) => personOf(persons, callerId))).size
}

function humansSay(count: number): string {
  return `It leaves ${count === 0 ? 'no human' : count === 1 ? 'one human' : `${count} humans`} who can approve changes`
}

async function revocationWarnings(
  { callerId, keyHash, humansLeft = HUMANS_NEEDED }: Revoke,
  { inEffect, configured, namings }: Standing,
  sql: Sql,
): Promise<string[]> {
  const warnings: string[] = []
  const left = inEffect.filter((one) => one.keyHash !== keyHash)
  if (humansLeft < HUMANS_NEEDED)
    warnings.push(
      `${humansSay(humansLeft)}: then nothing can be changed by governance, nor this be undone, until an operator adds humans to SERVICE_API_KEYS and restarts.`,
    )
  else if (
    countHumans(
      left.filter(({ expiresAt }) => expiresAt === undefined),
      { namings },
    ) < HUMANS_NEEDED
  )
    warnings.push('Fewer than two humans who can approve changes have a key that does not expire.')
  if (!left.some((one) => one.callerId === callerId))
    warnings.push(`It is the only key of ${callerId}, who cannot call any more.`)
  if (configured.some((one) => one.keyHash === keyHash))
    warnings.push('It is an entry of SERVICE_API_KEYS: remove it there, where it is refused from now on.')
  const open = await countOpenChangesOf(sql, callerId)
  if (open > 0)
    warnings.push(
      `Changes that ${callerId} has proposed are open: ${open}. If the key has leaked, look at them.`,
    )
  return warnings
}

function issueWarnings(issue: Issue, { inEffect }: Standing, proposedBy: string): string[] {
  const { callerId, allowedCapabilities, allowedPrincipalIds, credentialHolderType, expiresAt } = issue
  const own = inEffect.filter((one) => one.callerId === callerId)
  const warnings: string[] = []
  const isHuman = credentialHolderType === 'USER'
  const canApprove = canApproveChanges(fullCaller(issue))
  if (isHuman && !own.some((one) => one.credentialHolderType === 'USER'))
    warnings.push(
      `It makes ${callerId} a human, who reads everything${canApprove ? ', and approves what others propose: be sure that this is another person than every human there is' : ''}.`,
    )
  if (isHuman && !canApprove)
    warnings.push(`It has no step-up key: with it ${callerId} can propose changes, and approve none.`)
  const heldPems = new Set(own.flatMap((one) => [one.stepUpPublicKey, one.stepUpPasskey?.publicKeyPem]))
  const newPems = [issue.stepUpPublicKey, issue.stepUpPasskey?.publicKeyPem].filter(
    (pem) => pem !== undefined && !heldPems.has(pem),
  )
  if (newPems.length > 0 && own.some(canApproveChanges))
    warnings.push(
      `Its step-up key is not one that ${callerId} has: whoever holds it approves changes as ${callerId}.`,
    )
  if (isHuman && proposedBy !== callerId)
    warnings.push(`${proposedBy} proposes it, not ${callerId}: ask ${callerId} whether the key is theirs.`)
  if (issue.approverId !== undefined && !own.some((one) => one.approverId === issue.approverId))
    warnings.push(
      `It says for good that ${callerId} and approver ${issue.approverId} are one person: what ${callerId} asks for ${issue.approverId} does not approve.`,
    )
  if (proposedBy === callerId && widens(issue, own))
    warnings.push(`${callerId} proposes more for themselves than they have.`)
  warnings.push(...lookalikeWarnings([callerId, ...allowedPrincipalIds]))
  if (allowedCapabilities.includes('*')) warnings.push('It may invoke every capability, also later ones.')
  if (issue.readAll && !isHuman) warnings.push('It reads what every caller has submitted, and the audit.')
  const foreign = allowedPrincipalIds.filter((id) => id !== callerId)
  if (foreign.length > 0)
    warnings.push(`It speaks for principals of other names: ${foreign.map(quoted).join(', ')}.`)
  if (own.length > 0) {
    warnings.push(
      `${callerId} has ${own.length === 1 ? 'another key' : `${own.length} other keys`} in effect: revoke what is not used any more.`,
    )
    if (widens(issue, own))
      warnings.push(`It allows more than the other keys of ${callerId}: ${moreOf(issue, own)}.`)
  }
  if (isHuman && expiresAt !== undefined) warnings.push(`${callerId} is no human any more at ${expiresAt}.`)
  return warnings
}

function widens(issue: Issue, own: readonly Caller[]): boolean {
  return moreOf(issue, own) !== ''
}

/** Names the permissions of the key that none of the caller's others has. */
function moreOf(issue: Issue, own: readonly Caller[]): string {
  const held = {
    capabilities: new Set(own.flatMap((one) => one.allowedCapabilities)),
    principals: new Set(own.flatMap((one) => one.allowedPrincipalIds)),
  }
  const capabilities = held.capabilities.has('*')
    ? []
    : issue.allowedCapabilities.filter((one) => !held.capabilities.has(one))
  const principals = issue.allowedPrincipalIds.filter((one) => !held.principals.has(one))
  return [
    ...capabilities.map((one) => `capability ${quoted(one)}`),
    ...principals.map((one) => `principal ${quoted(one)}`),
    ...(issue.readAll && !own.some((one) => one.readAll) ? ['readAll'] : []),
    ...(issue.credentialHolderType === 'USER' && !own.some((one) => one.credentialHolderType === 'USER')
      ? ['credentialHolderType USER']
      : []),
    ...(issue.approverId !== undefined && !own.some((one) => one.approverId === issue.approverId)
      ? [`approver ${issue.approverId}`]
      : []),
  ].join(', ')
}
