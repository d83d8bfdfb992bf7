// The signature counters of passkeys over all evidence of one run: the finding of the service's event
// `approval.counter_went_back`, from the evidence alone. A copied passkey counts separately from the original.
import { base64 } from '../base64.ts'
import { itemsOf } from '../artifacts/evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { instantMs } from '../artifacts/instant.ts'
import type { EvidenceKind } from '../artifacts/kinds.ts'

/** An approval that a passkey signed. */
export interface PasskeyUse {
  readonly keyId: string
  readonly issuedAtMs: number
  /** The last four bytes of the authenticator data (Web Authentication Level 3 §6.1); 0 for a passkey that does not count. */
  readonly counter: number
}

const DECIDED: readonly EvidenceKind[] = ['trust-record', 'refusal-record', 'bundle']

/** @param evidence evidence whose checks all pass */
export function passkeyUses(kind: EvidenceKind, evidence: Members): PasskeyUse[] {
  if (!DECIDED.includes(kind)) return []
  const record = kind === 'bundle' ? (evidence['record'] as Members) : evidence
  return [record, ...itemsOf(record['executions'])]
    .flatMap((one) => (isMembers(one) && isMembers(one['decision']) ? [one['decision']] : []))
    .flatMap(({ verifiedSignals }) => (isMembers(verifiedSignals) ? Object.values(verifiedSignals) : []))
    .flatMap((verified) => (isMembers(verified) ? itemsOf(verified['approvals']) : []))
    .flatMap((approval) => (isMembers(approval) ? useOf(approval) : []))
}

function useOf({ payload, webauthn }: Members): PasskeyUse[] {
  const data = isMembers(webauthn) && base64(webauthn['authenticatorData'] as string)
  if (!data || !isMembers(payload)) return []
  const { approverId, keyId, issuedAt } = payload as Readonly<Record<string, string>>
  const issuedAtMs = instantMs(issuedAt as string)
  // A refusal may be due to the unreadable time.
  if (Number.isNaN(issuedAtMs)) return []
  const counter = new DataView(data.buffer, data.byteOffset).getUint32(data.length - 4)
  return [{ keyId: `${approverId}:${keyId}`, issuedAtMs, counter }]
}

export interface Counters {
  readonly add: (uses: readonly PasskeyUse[]) => void
  /** Ids of the passkeys that signed with a counter that an earlier approval had already reached, in the order of the evidence. */
  readonly wentBack: () => string[]
}

export function openCounters(): Counters {
  const usesOf = new Map<string, PasskeyUse[]>()
  return {
    add(uses) {
      for (const use of uses) {
        const known = usesOf.get(use.keyId)
        if (known === undefined) usesOf.set(use.keyId, [use])
        else known.push(use)
      }
    },
    wentBack: () => [...usesOf].filter(([, uses]) => isBehind(uses)).map(([keyId]) => keyId),
  }
}

/** The same approval may be in several files, and approvals of the same time have no order. */
function isBehind(uses: readonly PasskeyUse[]): boolean {
  const inOrder = uses.toSorted((one, other) => one.issuedAtMs - other.issuedAtMs)
  let [earlier, highest, at] = [0, 0, -Infinity]
  for (const { issuedAtMs, counter } of inOrder) {
    if (issuedAtMs > at) [earlier, at] = [highest, issuedAtMs]
    if (counter <= earlier && earlier > 0) return true
    highest = Math.max(highest, counter)
  }
  return false
}
