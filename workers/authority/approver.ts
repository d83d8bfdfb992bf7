// Changes of approvers' keys (decisions §7): one human proposes to add or to revoke a key, another approves it.
import { createPublicKey } from 'node:crypto'
import { readNamings } from '../../src/core/callers/authority-state.ts'
import type { Caller } from '../../src/formats/people/caller.ts'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import type { Static } from 'typebox'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { namingOfApprover, otherHolder } from '../../src/formats/people/persons.ts'
import { ApproverProposal, type ProposedPasskey } from '../../src/formats/schemas/approver.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { approverKeyId } from '../../src/core/signing/approver-keys.ts'
import { humanKeyJson, humanSignatureProblem, readHumanKey } from '../../src/core/signing/human-key.ts'
import { readApprover, readApprovers, revocationTime } from '../../src/store/tables/approvers.ts'
import { enact, everything, fingerprintOf } from '../../src/store/tables/authority.ts'
import { NAMING } from '../../src/store/tables/caller-keys.ts'
import { takeLocks, type Sql } from '../../src/store/postgres/sql.ts'
import { isConsoleAt, siteProblem } from '../../src/core/config/webauthn-site.ts'
import type { ChangeKind } from './change-kind.ts'
import { lackingAfter, readSigners } from './signers.ts'

interface Add {
  readonly action: 'add'
  readonly approverId: string
  readonly keyId: string
  /** Normalized: the checker is shown the text that will be published, and the hash covers it. */
  readonly publicKeyPem: string
  /** With its proof, so that a checker and every reader of the change can check it again. */
  readonly passkey?: ProposedPasskey
}

interface Revoke {
  readonly action: 'revoke'
  readonly approverId: string
  readonly keyId: string
}

const proposalOf = bodyOf(ApproverProposal)

/**
 * @param options.ownKeys PEMs of the keys that this service publishes as its own
 * @param options.approverPasskeys which passkeys may be enrolled
 * @param options.configuredCallers the entries of SERVICE_API_KEYS
 */
export function approverChanges({
  ownKeys,
  approverPasskeys,
  configuredCallers,
  consoleOrigin,
}: {
  ownKeys: () => readonly string[]
  approverPasskeys: 'any' | 'device-bound'
  configuredCallers: readonly Caller[]
  /** CONSOLE_ORIGIN; undefined: the console, if there is one, is at localhost. */
  consoleOrigin: string | undefined
}): ChangeKind<Add | Revoke> {
  return {
    read(body) {
      const proposal = proposalOf(body)
      if (proposal instanceof Failure) return proposal
      const proposed = proposedBy(proposal)
      if (proposed instanceof Failure) return proposed
      return { target: approverKeyId(proposed), proposed, reason: proposal.reason }
    },
    check: (change) => Promise.resolve(change.action === 'add' ? unfit(change) : undefined),
    contradiction: (change, sql) => contradiction(change, sql, configuredCallers),
    async examine({ proposed }, sql) {
      const warnings =
        proposed.action === 'revoke'
          ? await revocationWarnings(proposed, sql)
          : warningsOf(proposed, consoleOrigin)
      return { proposed, warnings }
    },
    async apply(change, sql) {
      const { proposed } = change
      const at = proposed.action === 'revoke' ? await revocationTime(sql, proposed) : change.at
      const applied = await enact(sql, 'approver', { ...change, at })
      return applied ? undefined : failures.conflict(`${change.target} has been changed meanwhile.`)
    },
  }

  function unfit({ publicKeyPem, passkey }: Add): Failure | undefined {
    if (passkey?.backupEligible === true && approverPasskeys !== 'any')
      return failures.invalidField('passkey must be one that cannot be copied (APPROVER_PASSKEYS).')
    return ownKeys().includes(publicKeyPem)
      ? failures.invalidField('publicKeyPem must not be a signing key of this service.')
      : undefined
  }
}

function proposedBy(proposal: Static<typeof ApproverProposal>): Add | Revoke | Failure {
  const { action, approverId, keyId } = proposal
  // Verifiers get the key by which humans resolve changes under the name `{callerId}:step-up`.
  if (keyId === 'step-up') return failures.invalidField('keyId must not be step-up: the name is reserved.')
  if (action === 'revoke') return { action, approverId, keyId }
  const { passkey } = proposal
  const publicKeyPem = normalized(proposal.publicKeyPem, passkey)
  if (publicKeyPem === undefined)
    return failures.invalidField(
      passkey === undefined
        ? 'publicKeyPem must be a PEM Ed25519 public key.'
        : 'publicKeyPem must be a PEM public key of Ed25519 or P-256.',
    )
  if (passkey === undefined) return { action, approverId, keyId, publicKeyPem }
  const unusable = siteProblem(passkey, 'passkey')
  if (unusable !== undefined) return failures.invalidField(unusable)
  const change = { action, approverId, keyId, publicKeyPem, passkey }
  return unproven(change) ?? change
}

function normalized(pem: string, passkey: ProposedPasskey | undefined): string | undefined {
  try {
    return humanKeyJson(readHumanKey('', pem, passkey)).pem
  } catch {
    return undefined
  }
}

/** Why the proof fails: the proposer must have the passkey at hand, and it must sign for its own site. */
function unproven({ approverId, keyId, publicKeyPem, passkey }: Required<Add>): Failure | undefined {
  const { rpId, origins, proof } = passkey
  const { payload, algorithm, signature, webauthn } = proof
  const der = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' })
  const due = { version: 1, approverId, keyId, spki: der.toString('base64'), rpId }
  const { origin, ...said } = payload
  if (canonicalize(said) !== canonicalize(due) || !origins.includes(origin))
    return failures.invalidField('passkey.proof.payload must name this approver, key and site.')
  const key = readHumanKey('', publicKeyPem, passkey)
  const signed = { algorithm, value: signature, webauthn }
  const why = humanSignatureProblem('key-proof', canonicalize(payload), signed, key)
  return why === undefined
    ? undefined
    : failures.invalidField(`passkey.proof must be a signature of its payload by the passkey: ${why}.`)
}

/** Warnings about the signatures that are missing where it is the last key of its approver. */
async function revocationWarnings({ approverId, keyId }: Revoke, sql: Sql): Promise<string[]> {
  const keys = (await readApprovers(sql)).filter(
    (row) => row.approverId === approverId && row.revokedAt === null,
  )
  if (keys.some((row) => row.keyId !== keyId)) return []
  const before = await readSigners(sql)
  const after = { ...before, enrolled: before.enrolled.difference(new Set([approverId])) }
  return [
    `It is the only key of ${approverId}, who approves nothing any more.`,
    ...(await lackingAfter({ before, after }, sql)),
  ]
}

function warningsOf(change: Add, consoleOrigin: string | undefined): string[] {
  if (change.passkey === undefined) return []
  const { backupEligible, origins } = change.passkey
  return [
    ...(backupEligible
      ? ['This passkey may be kept in a cloud account: it can be copied to other devices.']
      : []),
    ...origins
      .filter((origin) => !isConsoleAt(origin, consoleOrigin))
      .map((origin) => `This passkey signs at ${origin} too, which is not the console of this service.`),
  ]
}

async function contradiction(
  change: Add | Revoke,
  sql: Sql,
  configuredCallers: readonly Caller[],
): Promise<Failure | undefined> {
  const id = approverKeyId(change)
  if (change.action === 'revoke') {
    const enrolled = await readApprover(sql, change)
    return enrolled?.revokedAt === null ? undefined : failures.conflict(`No key ${id} is in effect.`)
  }
  // Held until the change is applied: of two changes that give one key to two persons, the second finds the first.
  await takeLocks(sql, [NAMING])
  const enrolled = await everything(sql, 'approver')
  const taken = enrolled.find(({ target }) => target === id)
  if (taken !== undefined)
    return failures.conflict(`${id} is enrolled already${taken.endedAt === null ? '' : ', and revoked'}.`)
  // One key is one person: under a second name it would count twice for a quorum.
  const fingerprint = fingerprintOf(change.publicKeyPem)
  const same = enrolled.find(({ uniqueKey }) => uniqueKey === fingerprint)
  if (same !== undefined) return failures.conflict(`This public key is enrolled already, as ${same.target}.`)
  const holder = otherHolder(await readNamings(sql, configuredCallers), namingOfApprover(change))
  return holder === undefined
    ? undefined
    : failures.conflict(
        `This public key is that of ${holder}, another person. If it is the same one, the approverId of their caller says so.`,
      )
}
