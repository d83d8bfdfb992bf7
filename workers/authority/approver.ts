// Changes of approvers' keys (decisions §7): one human proposes to add or to revoke a key, another approves it.
import { createPublicKey, hash } from 'node:crypto'
import { otherMembers, requiredField, type Fields } from '../../src/body.ts'
import type { Json } from '../../src/canonical.ts'
import { Failure, failures } from '../../src/errors.ts'
import { approverKeyId } from '../../src/signing/approver-keys.ts'
import { ed25519PublicKey } from '../../src/signing/keys.ts'
import { enrolApprover, readApprover, readEnrolled, revokeApprover } from '../../src/tables/approvers.ts'
import type { Sql } from '../../src/tables/sql.ts'
import type { ChangeKind } from './change-kind.ts'

interface Add {
  readonly action: 'add'
  readonly approverId: string
  readonly keyId: string
  /** Normalized: the checker is shown, and the hash covers, what will be published. */
  readonly publicKeyPem: string
}

interface Revoke {
  readonly action: 'revoke'
  readonly approverId: string
  readonly keyId: string
}

const MEMBERS = ['action', 'approverId', 'keyId', 'publicKeyPem', 'reason']

/** No colon: the published id is `{approverId}:{keyId}`, and must be of one key only. */
const ID = /^[A-Za-z0-9._@-]{1,64}$/

/** in  ownKeys  PEMs of the keys that this service publishes as its own */
export function approverChanges({ ownKeys }: { ownKeys: () => readonly string[] }): ChangeKind {
  return {
    read(body) {
      const proposed = readProposed(body)
      if (proposed instanceof Failure) return proposed
      return { target: approverKeyId(proposed), proposed: { ...proposed } }
    },
    check(proposed) {
      const change = asProposed(proposed)
      const own = change.action === 'add' && ownKeys().includes(change.publicKeyPem)
      return Promise.resolve(
        own ? failures.invalidField('publicKeyPem must not be a signing key of this service.') : undefined,
      )
    },
    async examine({ proposed }, sql) {
      return (await contradiction(asProposed(proposed), sql)) ?? { proposed, warnings: [] }
    },
    async apply({ proposed, changeId, resolvedAt: at }, sql) {
      const change = asProposed(proposed)
      const { approverId, keyId } = change
      const standing = await contradiction(change, sql)
      if (standing !== undefined) return standing
      const applied =
        change.action === 'revoke'
          ? await revokeApprover(sql, { approverId, keyId, changeId })
          : await enrolApprover(sql, { ...change, fingerprint: fingerprintOf(change), changeId, at })
      // The statement's own word: another change may have been applied since the question before it.
      return applied ? undefined : failures.conflict(`${approverKeyId(change)} has been changed meanwhile.`)
    },
  }
}

function readProposed(body: Fields): Add | Revoke | Failure {
  const unknown = otherMembers(body, MEMBERS)
  if (unknown !== undefined) return unknown
  const action = requiredField(body, 'action')
  if (action instanceof Failure) return action
  if (action.value !== 'add' && action.value !== 'revoke')
    return failures.invalidField('action must be add or revoke.')
  const approverId = readId(body, 'approverId')
  if (approverId instanceof Failure) return approverId
  const keyId = readId(body, 'keyId')
  if (keyId instanceof Failure) return keyId
  // `{callerId}:step-up` is how verifiers are handed the key that humans resolve changes by.
  if (keyId === 'step-up') return failures.invalidField('keyId must not be step-up: the name is reserved.')
  // Its publicKeyPem, if it is given, is not part of the change: what is enrolled under the name is revoked.
  if (action.value === 'revoke') return { action: 'revoke', approverId, keyId }
  const given = requiredField(body, 'publicKeyPem')
  if (given instanceof Failure) return given
  const publicKeyPem = normalized(given.value)
  return publicKeyPem === undefined
    ? failures.invalidField('publicKeyPem must be a PEM Ed25519 public key.')
    : { action: 'add', approverId, keyId, publicKeyPem }
}

function readId(body: Fields, name: 'approverId' | 'keyId'): string | Failure {
  const given = requiredField(body, name)
  if (given instanceof Failure) return given
  return typeof given.value === 'string' && ID.test(given.value)
    ? given.value
    : failures.invalidField(`${name} must be 1 to 64 letters, digits or . _ @ -.`)
}

function normalized(pem: unknown): string | undefined {
  if (typeof pem !== 'string') return undefined
  try {
    return ed25519PublicKey('', pem).pem
  } catch {
    return undefined
  }
}

/** What `read` made, as it comes back from the stored change: signed, and checked by whoever reads it. */
function asProposed(proposed: Json): Add | Revoke {
  return proposed as unknown as Add | Revoke
}

async function contradiction(change: Add | Revoke, sql: Sql): Promise<Failure | undefined> {
  const id = approverKeyId(change)
  if (change.action === 'revoke') {
    const enrolled = await readApprover(sql, change)
    return enrolled?.revokedAt === null ? undefined : failures.conflict(`No key ${id} is in effect.`)
  }
  const { approverId, keyId } = change
  const standing = await readEnrolled(sql, { approverId, keyId, fingerprint: fingerprintOf(change) })
  const taken = standing.find((row) => approverKeyId(row) === id)
  if (taken !== undefined)
    return failures.conflict(`${id} is enrolled already${taken.revoked ? ', and revoked' : ''}.`)
  // One key is one person: under a second name it would count twice for a quorum.
  const [same] = standing
  return same && failures.conflict(`This public key is enrolled already, as ${approverKeyId(same)}.`)
}

/** SHA-256 of the SPKI, hex. */
function fingerprintOf({ publicKeyPem }: Add): string {
  return hash('sha256', createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' }), 'hex')
}
