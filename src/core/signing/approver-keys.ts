// The keys of approvers for publication and verification: named `{approverId}:{keyId}`, which is no name of a key of the service.
import type { ApproverRow } from '../../store/tables/approvers.ts'
import { humanKeyJson, readHumanKey, type HumanKey } from './human-key.ts'

export interface ApproverKey {
  readonly key: HumanKey
  /** ISO 8601; null: in effect. */
  readonly revokedAt: string | null
}

export function approverKeyId({ approverId, keyId }: { approverId: string; keyId: string }): string {
  return `${approverId}:${keyId}`
}

/** The key as GET /keys/{approverId}:{keyId} returns it. */
export function approverKeyJson(row: ApproverRow): ReturnType<typeof humanKeyJson> {
  const published = humanKeyJson(readHumanKey(approverKeyId(row), row.publicKeyPem, row.passkey))
  return row.revokedAt === null ? published : { ...published, revokedAt: row.revokedAt }
}

/** @returns the keys by their published id */
export function approverKeys(rows: readonly ApproverRow[]): ReadonlyMap<string, ApproverKey> {
  return new Map(
    rows.map((row) => {
      const id = approverKeyId(row)
      return [id, { key: readHumanKey(id, row.publicKeyPem, row.passkey), revokedAt: row.revokedAt }]
    }),
  )
}
