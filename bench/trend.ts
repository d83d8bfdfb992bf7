// What growth says about a database that is larger than any that was measured.
import type { Measurement, ScenarioReport } from './report.ts'

const FAR = 100_000_000

/**
 * B-trees grow by their logarithm, so CPU is taken as a line over it, through the two fullest levels.
 * out  a sentence; undefined where there are no two levels with records
 */
export function trendText({ measurements }: ScenarioReport): string | undefined {
  const levels = measurements.filter(
    ({ records = 0, cpu, connections }) =>
      records > 0 && cpu !== undefined && connections === measurements.at(-1)?.connections,
  )
  const [from, to] = levels.slice(-2)
  if (from === undefined || to === undefined) return undefined
  const atFar = (cpuFrom: number, cpuTo: number) => {
    const decades = Math.log10((to.records ?? 1) / (from.records ?? 1))
    return cpuTo + ((cpuTo - cpuFrom) / decades) * Math.log10(FAR / (to.records ?? 1))
  }
  const [a, b] = [from.cpu?.total, to.cpu?.total]
  if (a === undefined || b === undefined) return undefined
  const indexBytes = to.more['index B']?.median ?? Number.NaN
  const noise =
    a.values.length > 1 && b.values.length > 1
      ? ` (${atFar(a.max, b.min).toFixed(0)} to ${atFar(a.min, b.max).toFixed(0)} by the noise)`
      : ''
  return (
    `By the slope from ${count(from)} to ${count(to)} records, an execution beside 100 M costs ` +
    `${atFar(a.median, b.median).toFixed(0)} µs of CPU${noise}. Indexes take ${((indexBytes * FAR) / 1e9).toFixed(0)} GB there: ` +
    `what of them is not in memory is read from disk on top of that.`
  )
}

function count({ records = 0 }: Measurement): string {
  return records.toLocaleString('en-US')
}
