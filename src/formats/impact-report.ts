// The impact of a policy change on the past: the simulated part of the change, and the impact report made from the chunks of that
// simulation. The console's page and the command line share it. Browser-safe.
import { canonicalize, type Json } from './json/canonical.ts'
import type { ImpactReport } from './schemas/impact-report.ts'
import type { PolicySimulation } from './schemas/sandbox.ts'
import type { Static } from 'typebox'

/** The bound counts the canonical JSON in UTF-8. Every copy of the change contains the report, and so does every bundle under that policy. */
export const IMPACT_REPORT_BYTES_MAX = 32_768
/** More than a report has room for, and as many as a person reads. */
const LISTED_MAX = 200

/** A proposed policy as its changes contain it: a document with the versions that end, or the end of one version. */
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
  'flips' | 'retired' | 'skipped' | 'unknown' | 'unknownSignals' | 'range' | 'progress' | 'complete'
>

/** The findings of the chunks so far. */
export type Found = Omit<
  ImpactReport,
  'version' | 'changeId' | 'changeHash' | 'madeAt' | 'flips' | 'retired'
> & {
  /** The newest flips, with their actions and amounts. */
  readonly flips: Chunk['flips']
  readonly retired: NonNullable<Chunk['retired']>
  /** Number of flips that would also be refused as retired. No report has this member or the following ones. */
  readonly flippedAndRetired: number
  /** Signals whose past values are not recorded, sorted. */
  readonly unknownSignals: readonly string[]
  /** The sums of money of all findings. */
  readonly sums: Readonly<Record<'toRejected' | 'toApproved' | 'retired', Sums>>
  /** The share of the range that is done, from 0 to 1. */
  readonly share: number
  readonly complete: boolean
}

/** By currency; '' when the currency is unknown. */
export type Sums = Readonly<Record<string, number>>

function added(sums: Sums = {}, rows: readonly Pick<Chunk['flips'][number], 'amount' | 'currency'>[]): Sums {
  const next: Record<string, number> = { ...sums }
  for (const { amount, currency = '' } of rows)
    if (amount !== undefined) next[currency] = (next[currency] ?? 0) + amount
  return next
}

const isAskedFor = ({ wouldBe }: Chunk['flips'][number]) => wouldBe.needs !== undefined

/** A report from before this count existed has the same bytes as a report in which the count is zero. */
function someOf<Name extends 'unknown' | 'needApproval'>(name: Name, count: number) {
  return (count === 0 ? {} : { [name]: count }) as { readonly [name in Name]?: number }
}

/** @param before the sums of the earlier chunks; undefined for the first */
export function addChunk(before: Found | undefined, chunk: Chunk): Found {
  const { flips, retired = [], skipped, unknown = 0, unknownSignals = [], range, progress, complete } = chunk
  const [rejected, approved] = ['REJECTED', 'APPROVED'].map((outcome) =>
    flips.filter(({ wouldBe }) => wouldBe.outcome === outcome),
  ) as [Chunk['flips'], Chunk['flips']]
  return {
    ...range,
    share: progress.share,
    complete,
    examined: (before?.examined ?? 0) + progress.examined,
    decided: (before?.decided ?? 0) + progress.decided,
    skipped: (before?.skipped ?? 0) + skipped,
    ...someOf('unknown', (before?.unknown ?? 0) + unknown),
    ...someOf('needApproval', (before?.needApproval ?? 0) + rejected.filter(isAskedFor).length),
    approvedToRejected: (before?.approvedToRejected ?? 0) + rejected.length,
    rejectedToApproved: (before?.rejectedToApproved ?? 0) + approved.length,
    refusedAsRetired: (before?.refusedAsRetired ?? 0) + retired.length,
    flippedAndRetired: (before?.flippedAndRetired ?? 0) + retired.length - onlyRetired(chunk).length,
    unknownSignals: [...new Set([...(before?.unknownSignals ?? []), ...unknownSignals])].toSorted(),
    flips: [...(before?.flips ?? []), ...flips].slice(0, LISTED_MAX),
    retired: [...(before?.retired ?? []), ...retired].slice(0, LISTED_MAX),
    sums: {
      toRejected: added(before?.sums.toRejected, rejected),
      toApproved: added(before?.sums.toApproved, approved),
      retired: added(before?.sums.retired, retired),
    },
  }
}

/**
 * The report of a whole simulation. Its counts cover everything; its lists hold the newest entries, as many as the bound permits.
 * @param found findings of a complete simulation
 * @param madeAt ISO 8601 with milliseconds
 */
export function impactReport(
  { changeId, changeHash }: { readonly changeId: string; readonly changeHash: string },
  whole: Found,
  madeAt: string,
): ImpactReport {
  const { share: _, complete: _1, sums: _2, flippedAndRetired: _3, unknownSignals: _4, ...reportable } = whole
  const { flips, retired, ...found } = reportable
  const none: ImpactReport = { version: 1, changeId, changeHash, madeAt, ...found, flips: [], retired: [] }
  const room = IMPACT_REPORT_BYTES_MAX - bytesOf(none)
  const ending = { ...none, retired: fitting(retired.map(reported), room / 2) }
  return { ...ending, flips: fitting(flips.map(reported), IMPACT_REPORT_BYTES_MAX - bytesOf(ending)) }
}

/** Leaves out the members that are only for people. */
function reported<Row extends { summary?: string; amount?: number; currency?: string }>(row: Row) {
  const { summary: _, amount: _1, currency: _2, ...rest } = row
  return rest
}

/** The first items that fit into `roomBytes`, each with its comma. */
function fitting<T extends object>(list: readonly T[], roomBytes: number): T[] {
  let left = roomBytes
  const tooMany = list.findIndex((item) => (left -= bytesOf(item) + 1) < 0)
  return list.slice(0, tooMany === -1 ? list.length : tooMany)
}

/** Bytes that the canonical JSON of a value takes in UTF-8. */
export function bytesOf(value: object): number {
  return new TextEncoder().encode(canonicalize(value as Json)).length
}

/** One past decision that would change, for a person; without its sentence when it comes from a report. */
export function flipLine(flip: ImpactReport['flips'][number] & { readonly summary?: string }): string {
  const { businessTransactionId, createdAt, was, wouldBe } = flip
  const { outcome, matchedRuleId, reason, needs } = wouldBe
  const said = flip.summary === undefined ? '' : `${flip.summary}: `
  return `${createdAt} ${businessTransactionId} ${said}${was.outcome} -> ${outcome} (${matchedRuleId ?? 'no rule'}) ${reason}${needs === undefined ? '' : ` Would wait for: ${needs.join(', ')}.`}`
}

/** The executions that only the end of their version would have refused: the others are among the flips. */
export function onlyRetired<Row extends { readonly businessTransactionId: string }>({
  flips,
  retired = [],
}: {
  readonly flips: readonly { readonly businessTransactionId: string }[]
  readonly retired?: readonly Row[] | undefined
}): Row[] {
  const flipped = new Set(flips.map(({ businessTransactionId }) => businessTransactionId))
  return retired.filter(({ businessTransactionId }) => !flipped.has(businessTransactionId))
}

/** A sentence, after a space, on the overlap of the two counts of findings; '' if there is none, or it was not counted. */
export function alsoFlipped({ flippedAndRetired = 0 }: Partial<Pick<Found, 'flippedAndRetired'>>): string {
  if (flippedAndRetired === 0) return ''
  return ` ${flippedAndRetired} of these would flip too, and ${flippedAndRetired === 1 ? 'is' : 'are'} listed there alone.`
}

/** A sentence, after a space, on executions without a decision to compare; '' when there are none. */
export function undecidedText({ skipped }: Pick<ImpactReport, 'skipped'>): string {
  if (skipped === 0) return ''
  return ` ${skipped} under this policy ended without a decision, for an unknown version or the lack of a connector: nothing is said of ${skipped === 1 ? 'it' : 'them'}.`
}

/** Findings that a simulation could not make, or made only for the transactions as sent; empty when there are none. */
export function reservations({
  unknown = 0,
  needApproval = 0,
  unknownSignals = [],
}: Pick<ImpactReport, 'unknown' | 'needApproval'> & Partial<Pick<Found, 'unknownSignals'>>): string[] {
  return [
    needApproval === 0
      ? ''
      : `${needApproval} of those that would be rejected lack only an approval that was not asked for at that time: they would wait for it.`,
    unknown === 0
      ? ''
      : `${unknown} could not be simulated: the document reads ${unknownSignals.length === 0 ? 'a signal' : unknownSignals.join(', ')}, whose value at that time was not recorded. The result leaves ${unknown === 1 ? 'it' : 'them'} out.`,
  ].filter((sentence) => sentence !== '')
}

/** One execution that the end of its version would have refused, for a person. */
export function retiredLine(one: ImpactReport['retired'][number] & { readonly summary?: string }): string {
  const { businessTransactionId, createdAt, version } = one
  const said = one.summary === undefined ? '' : `${one.summary}: `
  return `${createdAt} ${businessTransactionId} ${said}APPROVED under ${version} -> refused as retired`
}
