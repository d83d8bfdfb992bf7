// Changes of approvers' keys (decisions §7): one human proposes to add or to revoke a key, another approves it.
import { createPublicKey, hash } from 'node:crypto'
import type { Static } from 'typebox'
import { Failure, failures } from '../../src/core/errors.ts'
import { ApproverProposal } from '../../src/core/schemas/approver.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { approverKeyId } from '../../src/core/signing/approver-keys.ts'
import { ed25519PublicKey } from '../../src/core/signing/keys.ts'
import { enrolApprover, readApprover, readEnrolled, revokeApprover } from '../../src/core/tables/approvers.ts'
import type { Sql } from '../../src/core/tables/sql.ts'
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

const proposalOf = bodyOf(ApproverProposal)

/** @param options.ownKeys PEMs of the keys that this service publishes as its own */
export function approverChanges({ ownKeys }: { ownKeys: () => readonly string[] }): ChangeKind<Add | Revoke> {
  return {
    read(body) {
      const proposal = proposalOf(body)
      if (proposal instanceof Failure) return proposal
      const proposed = proposedBy(proposal)
      if (proposed instanceof Failure) return proposed
      return { target: approverKeyId(proposed), proposed, reason: proposal.reason }
    },
    check(change) {
      const own = change.action === 'add' && ownKeys().includes(change.publicKeyPem)
      return Promise.resolve(
        own ? failures.invalidField('publicKeyPem must not be a signing key of this service.') : undefined,
      )
    },
    async examine({ proposed }, sql) {
      return (await contradiction(proposed, sql)) ?? { proposed, warnings: [] }
    },
    async apply({ proposed: change, changeId, resolvedAt: at }, sql) {
      const { approverId, keyId } = change
      const standing = await contradiction(change, sql)
      if (standing !== undefined) return standing
      const applied =
        change.action === 'revoke'
          ? await revokeApprover(sql, { approverId, keyId, changeId })
          : await enrolApprover(sql, { ...change, fingerprint: fingerprintOf(change), changeId, at })
      return applied ? undefined : failures.conflict(`${approverKeyId(change)} has been changed meanwhile.`)
    },
  }
}

function proposedBy(proposal: Static<typeof ApproverProposal>): Add | Revoke | Failure {
  const { action, approverId, keyId } = proposal
  // `{callerId}:step-up` is how verifiers are handed the key that humans resolve changes by.
  if (keyId === 'step-up') return failures.invalidField('keyId must not be step-up: the name is reserved.')
  if (action === 'revoke') return { action, approverId, keyId }
  const publicKeyPem = normalized(proposal.publicKeyPem)
  return publicKeyPem === undefined
    ? failures.invalidField('publicKeyPem must be a PEM Ed25519 public key.')
    : { action, approverId, keyId, publicKeyPem }
}

function normalized(pem: string): string | undefined {
  try {
    return ed25519PublicKey('', pem).pem
  } catch {
    return undefined
  }
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
