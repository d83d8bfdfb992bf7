// The tables of the soak's report.
import { cpuFigures } from '../cpu.ts'
import { figuresOf, type Round } from '../figures.ts'
import type { Measurement, ScenarioReport } from '../report.ts'
import type { ProbeLine } from './probe.ts'
import type { Descriptors, Memory, Observed } from './samples.ts'

/** @returns the scenario of the report, but for the service */
export function soakTables(
  { fromMs, toMs, calls, cpu, samples, tallies }: Observed,
  { heap, RSS }: Memory,
  lines: readonly ProbeLine[],
  { before, after }: Descriptors,
): ScenarioReport {
  const underLoad = lines.filter(({ at }) => at >= fromMs && at <= toMs)
  const most = Math.max(0, ...samples.map(({ descriptors }) => descriptors))
  const descriptors = { 'at rest before': before, 'at rest after': after, 'at most': most }
  return {
    name: 'soak',
    description: 'every route at half of saturation',
    labels: '',
    measurements: [row('all calls', { 'calls/s': (calls * 1000) / (toMs - fromMs), ...cpuFigures(cpu) })],
    further: {
      'Memory, MB (10⁶ bytes)': [
        row('heap, after collection', memoryRound(heap)),
        row('RSS', memoryRound(RSS)),
      ],
      Descriptors: [row('of the service', descriptors)],
      'Delay of the event loops, the worst of each': delays(underLoad),
      Routes: routeRows(tallies),
    },
    checked: { replies: calls, verifiedOffline: 0 },
  }
}

function row(label: string, round: Round): Measurement {
  return { label, figures: figuresOf([round]) }
}

function memoryRound({ series, slope }: Memory['heap']): Round {
  const megabytes = series.map(({ bytes }) => bytes / 1e6)
  return {
    'MB/hour': slope?.perHour,
    '±': slope?.plusMinus,
    first: megabytes[0],
    last: megabytes.at(-1),
    max: Math.max(0, ...megabytes),
  }
}

function delays(lines: readonly ProbeLine[]): Measurement[] {
  return [...Map.groupBy(lines, ({ thread }) => thread)].map(([thread, of]) => {
    const worst = (part: 'p99' | 'max') => Math.max(...of.map(({ delayMs }) => delayMs[part]))
    const round = { 'delay p99 ms': worst('p99'), 'delay max ms': worst('max') }
    return row(thread === 0 ? 'front end' : `thread ${thread}`, round)
  })
}

/** The busiest route first, with a column for each status. */
function routeRows(tallies: Observed['tallies']): Measurement[] {
  const all = [...tallies.values()].flatMap(({ statuses }) => [...statuses.keys()])
  const columns = [...new Set(all)].toSorted((a, b) => a - b)
  return [...tallies]
    .toSorted(([, a], [, b]) => b.times.count() - a.times.count())
    .map(([label, { times, statuses }]) =>
      row(label, {
        calls: times.count(),
        'call p50 ms': times.ms(50),
        'call p99 ms': times.ms(99),
        'call max ms': times.ms(100),
        ...Object.fromEntries(columns.map((status) => [`${status}s`, statuses.get(status) ?? 0])),
      }),
    )
}
