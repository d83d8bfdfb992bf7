// An audit of the log checks a receipt by itself: that its hash is that of its content, and that its promise was kept.
import { canonicalize } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { Members } from '../../formats/json/members.ts'
import type { Place } from '../fsck/entries.ts'
import type { Tools } from '../fsck/tools.ts'
import type { Coverage } from './coverage.ts'

export interface CoveredLogs extends Pick<Tools, 'logs'> {
  /** Each log that has a checkpoint has a coverage. */
  readonly coverages: ReadonlyMap<number, Coverage>
  /** Milliseconds since 1970, of the snapshot. */
  readonly nowMs: number
}

/** The entry has the hash that a receipt states of itself, so that must be the one of its content. */
export function receiptProblems(body: string, place: Place | 'queued', audited: CoveredLogs): string[] {
  const receipt = JSON.parse(body) as Members
  const { signature: _, signatures: __, receiptHash, ...hashed } = receipt
  const holds = sha256Hex(canonicalize(hashed)) === receiptHash
  return [
    ...(holds ? [] : ['states a receiptHash that is not that of its content']),
    ...brokenPromise(receipt, place, audited),
  ]
}

/** A promise is broken where a checkpoint that was signed later does not cover the entry. Of checkpoints that are not kept nothing is said. */
function brokenPromise(
  { transparency: promised }: Members,
  place: Place | 'queued',
  { logs, coverages, nowMs }: CoveredLogs,
): string[] {
  const transparency = promised as { log: string; by: string } | undefined
  if (transparency === undefined) return []
  const { log, by } = transparency
  const promise = `promises to be under a checkpoint of ${log} by ${by}, and`
  const byMs = Date.parse(by)
  if (place === 'queued') return byMs < nowMs ? [`${promise} waits in the queue`] : []
  const origin = logs.get(place.log)?.origin
  // Entries that a log took and never signed, and those promised while it was frozen, are in one that follows it: that may still be in time.
  const isBefore = () => [...logs].some(([number, one]) => one.origin === log && number < place.log)
  if (origin !== log && !isBefore()) return [`${promise} is in ${origin}`]
  const coverage = coverages.get(place.log)
  if (coverage === undefined || place.index >= coverage.size)
    return byMs < nowMs ? [`${promise} is under none`] : []
  return coverage.isLate(place.index, byMs) ? [`${promise} a later one does not cover it`] : []
}
