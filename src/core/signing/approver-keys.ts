// The keys of approvers as they are published and verified with: named `{approverId}:{keyId}`, which no key of the service is.
import type { ApproverRow } from '../tables/approvers.ts'
import { ed25519PublicKey, type PublicKey } from './keys.ts'

export interface ApproverKey {
  readonly publicKey: PublicKey
  /** ISO 8601; null: in effect. */
  readonly revokedAt: string | null
}

export function approverKeyId({ approverId, keyId }: { approverId: string; keyId: string }): string {
  return `${approverId}:${keyId}`
}

/** @returns the keys by their published id */
export function approverKeys(rows: readonly ApproverRow[]): ReadonlyMap<string, ApproverKey> {
  return new Map(
    rows.map((row) => {
      const id = approverKeyId(row)
      return [id, { publicKey: ed25519PublicKey(id, row.publicKeyPem), revokedAt: row.revokedAt }]
    }),
  )
}
