// The keys of approvers as they are published and verified with: named `{approverId}:{keyId}`, which no key of the service is.
import type { ApproverRow } from '../tables/approvers.ts'
import { ed25519PublicKey, type PublicKey } from './keys.ts'
import { publicKeyJson, type PublicKeyJson } from './published.ts'

export interface ApproverKey {
  readonly publicKey: PublicKey
  /** ISO 8601; null: in effect. */
  readonly revokedAt: string | null
}

export function approverKeyId({ approverId, keyId }: { approverId: string; keyId: string }): string {
  return `${approverId}:${keyId}`
}

/** As GET /keys/{approverId}:{keyId} answers it. */
export function approverKeyJson(row: ApproverRow): PublicKeyJson & { readonly revokedAt?: string } {
  const published = publicKeyJson(ed25519PublicKey(approverKeyId(row), row.publicKeyPem))
  return row.revokedAt === null ? published : { ...published, revokedAt: row.revokedAt }
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
