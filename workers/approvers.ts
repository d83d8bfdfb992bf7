// The approvers' keys of this thread, the revoked ones included: their earlier approvals still verify.
import { approverKeyId, approverKeys, type ApproverKey } from '../src/core/signing/approver-keys.ts'
import type { ApproverRow } from '../src/store/tables/approvers.ts'

export interface Approvers {
  /** `keyId` as published, `{approverId}:{keyId}`. */
  readonly find: (keyId: string) => ApproverKey | undefined
  /** Whether an approver has ever had a key. */
  readonly has: (approverId: string) => boolean
  replace(rows: readonly ApproverRow[]): void
  /** Adds a key that the database held a moment ago: an approval by it must verify here before the keys are read again. */
  learn(row: ApproverRow): void
}

export function openApprovers(rows: readonly ApproverRow[]): Approvers {
  let keys: ReadonlyMap<string, ApproverKey> = approverKeys(rows)
  let ids = idsOf(rows)
  return {
    find: (keyId) => keys.get(keyId),
    has: (approverId) => ids.has(approverId),
    replace(newRows) {
      keys = approverKeys(newRows)
      ids = idsOf(newRows)
    },
    learn(row) {
      if (!keys.has(approverKeyId(row))) keys = new Map([...keys, ...approverKeys([row])])
    },
  }
}

function idsOf(rows: readonly ApproverRow[]): ReadonlySet<string> {
  return new Set(rows.map(({ approverId }) => approverId))
}
