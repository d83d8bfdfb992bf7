// The impact of a change of a policy on the past: the simulated part of the change, and the impact report made from the chunks of that
// simulation. The console's page and the command line share it. Browser-safe.
import { canonicalize, type Json } from './json/canonical.ts'
import type { ImpactReport } from './schemas/impact-report.ts'
import type { PolicySimulation } from './schemas/sandbox.ts'
import type { Static } from 'typebox'

/** The bound counts the canonical JSON in UTF-8. The report is in every copy of the change, and so in every bundle under that policy. */
export const IMPACT_REPORT_BYTES_MAX = 32_768
/** More than a report has room for, and as many as a person looks through. */
const LISTED_MAX = 200

/** A proposed policy as its changes have it: a document with the versions that end, or the end of one version. */
export interface ProposedPolicy {
  readonly action?: string
  readonly policyId: string
  readonly policyVersion: string
  readonly retires?: readonly string[]
}

/** The body of POST /sandbox/policies/simulate for a proposed change. */
export function simulationOf(proposed: ProposedPolicy) {
  const { action, retires, ...policy } = proposed
  if (action === 'retire') return { policyId: policy.policyId, retires: [policy.policyVersion] }
  return { policy, ...(retires === undefined ? {} : { retires }) }
}

type Chunk = Pick<
  Static<typeof PolicySimulation>,
  'flips' | 'retired' | 'skipped' | 'range' | 'progress' | 'complete'
>

/** The findings of the chunks so far. */
export type Found = Omit<ImpactReport, 'version' | 'changeId' | 'changeHash' | 'madeAt'> & {
  /** The share of the range that is done, from 0 to 1. */
  readonly share: number
  readonly complete: boolean
}

/** @param before the sums of the earlier chunks; undefined for the first */
export function addChunk(before: Found | undefined, chunk: Chunk): Found {
  const { flips, retired = [], skipped, range, progress, complete } = chunk
  const toRejected = flips.filter(({ wouldBe }) => wouldBe.outcome === 'REJECTED').length
  return {
    ...range,
    share: progress.share,
    complete,
    examined: (before?.examined ?? 0) + progress.examined,
    decided: (before?.decided ?? 0) + progress.decided,
    skipped: (before?.skipped ?? 0) + skipped,
    approvedToRejected: (before?.approvedToRejected ?? 0) + toRejected,
    rejectedToApproved: (before?.rejectedToApproved ?? 0) + flips.length - toRejected,
    refusedAsRetired: (before?.refusedAsRetired ?? 0) + retired.length,
    flips: [...(before?.flips ?? []), ...flips].slice(0, LISTED_MAX),
    retired: [...(before?.retired ?? []), ...retired].slice(0, LISTED_MAX),
  }
}

/**
 * The report of a whole simulation. Its counts cover everything; its lists hold the newest, as many as the bound has room for.
 * @param found of a simulation that is complete
 * @param madeAt ISO 8601 with milliseconds
 */
export function impactReport(
  { changeId, changeHash }: { readonly changeId: string; readonly changeHash: string },
  { share: _share, complete: _complete, flips, retired, ...found }: Found,
  madeAt: string,
): ImpactReport {
  const none: ImpactReport = { version: 1, changeId, changeHash, madeAt, ...found, flips: [], retired: [] }
  const room = IMPACT_REPORT_BYTES_MAX - bytesOf(none)
  const ending = { ...none, retired: fitting(retired, room / 2) }
  return { ...ending, flips: fitting(flips, IMPACT_REPORT_BYTES_MAX - bytesOf(ending)) }
}

/** The first ones that fit into so many bytes, each with its comma. */
function fitting<T extends object>(list: readonly T[], roomBytes: number): T[] {
  let left = roomBytes
  const tooMany = list.findIndex((item) => (left -= bytesOf(item) + 1) < 0)
  return list.slice(0, tooMany === -1 ? list.length : tooMany)
}

/** Bytes that the canonical JSON of a value takes in UTF-8. */
export function bytesOf(value: object): number {
  return new TextEncoder().encode(canonicalize(value as Json)).length
}

/** One past decision that would be another, for a person. */
export function flipLine(flip: ImpactReport['flips'][number]): string {
  const { businessTransactionId, createdAt, was, wouldBe } = flip
  const { outcome, matchedRuleId, reason } = wouldBe
  return `${createdAt} ${businessTransactionId} ${was.outcome} -> ${outcome} (${matchedRuleId ?? 'no rule'}) ${reason}`
}

/** One execution that the end of its version would have refused, for a person. */
export function retiredLine(one: ImpactReport['retired'][number]): string {
  const { businessTransactionId, createdAt, version } = one
  return `${createdAt} ${businessTransactionId} APPROVED under ${version} -> refused as retired`
}
