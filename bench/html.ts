// The report as one page with plots: no script, nothing from elsewhere, light and dark by the reader's setting.
import { differenceTable, type Difference } from './compare.ts'
import { DISTRIBUTION_SHARES } from './shares.ts'
import { barPlot, escaped, linePlot, short, type Line } from './plot.ts'
import { named, saturation, type Measurement, type Report, type ScenarioReport } from './report.ts'
import {
  aboutLines,
  checkedText,
  cpuTable,
  hasCpu,
  noisy,
  notes,
  speedTable,
  yardstickTable,
  type Table,
} from './terminal.ts'
import { STYLE } from './style.ts'
import { trendText } from './trend.ts'

/** Beside an earlier report. */
export interface Comparison {
  readonly differences: readonly Difference[]
  readonly remarks: readonly string[]
}

export function page(report: Report, comparison: Comparison | undefined): string {
  const when = `${report.startedAt.slice(0, 16).replace('T', ' ')} UTC`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Countersign bench, ${escaped(when)}</title>
<style>${STYLE}</style>
<header><h1>Countersign bench</h1><p>${escaped(report.subject)} · ${escaped(when)}</p></header>
<main>
<section><h2>Overview</h2>${overview(report)}</section>
${comparison === undefined ? '' : compared(comparison)}
${report.scenarios.map(section).join('\n')}
<section><h2>How it was measured</h2>
<dl>${aboutLines(report)
    .map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`)
    .join('')}</dl>
<ul class="note">${notes(report)
    .split('\n')
    .map((note) => `<li>${escaped(note)}</li>`)
    .join('')}</ul></section>
</main>
</html>
`
}

function compared({ differences, remarks }: Comparison): string {
  const said = remarks.map((remark) => `<p>${escaped(remark)}</p>`).join('')
  const figures = differences.length === 0 ? '' : table(differenceTable(differences))
  return `<section><h2>Compared with the earlier report</h2>${said}${figures}</section>`
}

function overview({ scenarios }: Report): string {
  const loads = scenarios.filter(({ measurements }) =>
    measurements.some(({ perSecond }) => perSecond !== undefined),
  )
  const rows = loads.map((scenario) => {
    const best = saturation(scenario)
    const alone = scenario.measurements.findLast(({ connections }) => connections === 1)
    return [
      scenario.name,
      noisy(best?.perSecond),
      best?.label ?? 'n/a',
      noisy(alone?.latency?.p50, 1),
      noisy(best?.latency?.p99, 1),
      noisy(best?.cpu?.total),
      best?.cpu?.timesFloor === undefined ? '' : noisy(best.cpu.timesFloor, 2),
    ]
  })
  const head = [
    'scenario',
    'per second',
    'at connections',
    'p50 ms, one connection',
    'p99 ms, half rate',
    'CPU µs',
    '× floor',
  ]
  const plot = barPlot({
    title: 'Throughput, each at the connection count that brought the most',
    unit: 'replies per second',
    parts: [''],
    bars: loads.map((scenario) => ({
      name: scenario.name,
      values: [saturation(scenario)?.perSecond?.median ?? 0],
    })),
  })
  const cpu = loads.filter((scenario) => saturation(scenario)?.cpu !== undefined)
  return (
    (loads.length === 0 ? '' : table([head, ...rows])) +
    plots([
      loads.length < 2 ? '' : plot,
      cpu.length < 2 ? '' : cpuPlot(cpu.map((scenario) => [scenario.name, saturation(scenario)])),
    ])
  )
}

function section(scenario: ScenarioReport): string {
  const best = saturation(scenario)
  const { measurements, yardsticks } = scenario
  const trend = trendText(scenario)
  return `<section><h2>${escaped(scenario.name)}</h2><p>${escaped(scenario.description)}</p>
${plots([
  byConnections(measurements),
  byRecords(measurements),
  distribution(measurements),
  throughputOverTime(best),
  latencyOverTime(best),
  cpuPlot(
    measurements.map((one) => [one.label, one] as const),
    yardsticks,
  ),
  batchPlot(best),
  startPlot(measurements),
])}
${table(speedTable(scenario))}
${hasCpu(scenario) ? `<h3>CPU µs per reply at open throttle</h3>${table(cpuTable(scenario))}` : ''}
${yardsticks === undefined ? '' : `<h3>Floor and yardsticks, in the same rounds</h3>${table(yardstickTable(scenario, yardsticks))}`}
${trend === undefined ? '' : `<p class="trend">${escaped(trend)}</p>`}
<p class="checked">${escaped(checkedText(scenario))}</p></section>`
}

function byConnections(measurements: readonly Measurement[]): string {
  const counted = measurements.filter(({ label, connections }) => label === String(connections))
  if (counted.length < 2) return ''
  return linePlot({
    title: 'Throughput by connections',
    xLabel: 'connections',
    yLabel: 'replies per second',
    hasDots: true,
    lines: [{ name: '', points: counted.flatMap((one) => ranged(one, Math.log2(one.connections ?? 1))) }],
    xTicks: counted.map(({ connections = 1 }) => ({ at: Math.log2(connections), text: String(connections) })),
  })
}

function byRecords(measurements: readonly Measurement[]): string {
  const levels = measurements.filter(({ records }) => records !== undefined)
  if (levels.length < 2) return ''
  const counts = [...new Set(levels.map(({ connections }) => connections))]
  const records = [...new Set(levels.map((level) => level.records ?? 0))]
  return linePlot({
    title: 'Throughput by stored records',
    xLabel: 'stored records, by connections',
    yLabel: 'replies per second',
    hasDots: true,
    lines: counts.map((count) => ({
      name: counts.length === 1 ? '' : `at ${count}`,
      points: levels
        .filter(({ connections }) => connections === count)
        .flatMap((one) => ranged(one, one.records ?? 0)),
    })),
    xTicks: records.map((at) => ({ at, text: short(at) })),
  })
}

function ranged({ perSecond }: Measurement, x: number) {
  return perSecond === undefined ? [] : [{ x, y: perSecond.median, low: perSecond.min, high: perSecond.max }]
}

/** Each step to the right is ten times rarer; the last is what no share is left of. */
function rarity(share: number): number {
  return Math.min(5, -Math.log10(1 - Math.min(share, 0.99999)))
}

function distribution(measurements: readonly Measurement[]): string {
  const best = measurements.findLast(({ latency }) => latency?.distribution !== undefined)
  // Of several levels one count is enough.
  const shown = measurements.filter(
    ({ connections, records }) => records === undefined || connections === best?.connections,
  )
  const lines = shown.flatMap(({ label, latency }): Line[] =>
    latency?.distribution === undefined
      ? []
      : [
          {
            name: label,
            points: latency.distribution.map((y, i) => ({ x: rarity(DISTRIBUTION_SHARES[i] ?? 0), y })),
          },
        ],
  )
  return linePlot({
    title: 'Latency distribution, by connections',
    xLabel: 'share of the requests that were at most so slow, last round',
    yLabel: 'ms, at half of the throughput',
    lines,
    isLogY: true,
    xTicks: [
      [0.5, '50 %'],
      [0.9, '90 %'],
      [0.99, '99 %'],
      [0.999, '99.9 %'],
      [0.9999, '99.99 %'],
      [1, 'all'],
    ].map(([share, text]) => ({ at: rarity(Number(share)), text: String(text) })),
  })
}

function throughputOverTime(measurement: Measurement | undefined): string {
  const open = measurement?.overTime?.open
  if (open === undefined) return ''
  return linePlot({
    title: `Throughput over time, ${measurement === undefined ? '' : named(measurement)}`,
    xLabel: 'seconds, last round',
    yLabel: 'replies per second',
    lines: [{ name: '', points: open.perSecond.map((y, i) => ({ x: (i + 0.5) * open.stepSeconds, y })) }],
  })
}

function latencyOverTime(measurement: Measurement | undefined): string {
  const paced = measurement?.overTime?.paced
  if (paced === undefined) return ''
  const lineOf = (name: string, values: readonly number[]): Line => ({
    name,
    points: values.flatMap((y, i) =>
      (paced.perSecond[i] ?? 0) > 0 ? [{ x: (i + 0.5) * paced.stepSeconds, y }] : [],
    ),
  })
  return linePlot({
    title: `Latency over time, ${measurement === undefined ? '' : named(measurement)}`,
    xLabel: 'seconds, last round',
    yLabel: 'ms, at half of the throughput',
    lines: [lineOf('p50', paced.p50Ms), lineOf('p99', paced.p99Ms)],
  })
}

const PARTS = ['door', 'workers', 'helpers', 'PostgreSQL'] as const

function cpuPlot(
  rows: readonly (readonly [string, Measurement | undefined])[],
  yardsticks?: ScenarioReport['yardsticks'],
): string {
  const bars = rows.flatMap(([name, measurement]) => {
    const cpu = measurement?.cpu
    return cpu === undefined
      ? []
      : [{ name, values: [cpu.door, cpu.workers, cpu.helpers, cpu.postgres].map(({ median }) => median) }]
  })
  // What a yardstick does in its own process is the workers' part.
  const beside = Object.entries(yardsticks ?? {}).map(([name, { programMicros, postgresMicros }]) => ({
    name: name === 'singleRows' ? 'single rows' : name,
    values: [0, programMicros.median, 0, postgresMicros?.median ?? 0],
  }))
  return bars.length === 0
    ? ''
    : barPlot({
        title: 'CPU by part',
        unit: 'µs per reply at open throttle',
        parts: PARTS,
        bars: [...bars, ...beside],
      })
}

const BATCH_NAMES = ['1', '2', '3–4', '5–8', '9–16', '17–32', '33–64', '65–128']

function batchPlot(measurement: Measurement | undefined): string {
  const batches = measurement?.batches
  if (batches === undefined) return ''
  return barPlot({
    title: `Batch sizes, ${measurement === undefined ? '' : named(measurement)}`,
    unit: '% of the requests',
    parts: [''],
    bars: batches.shares.map((share, i) => ({
      name: BATCH_NAMES[i] ?? '',
      values: [Math.round(share * 1000) / 10],
    })),
  })
}

function startPlot(measurements: readonly Measurement[]): string {
  const starts = measurements.filter(({ perSecond }) => perSecond === undefined)
  const of = (name: string) => starts.map(({ more }) => more[name]?.median ?? 0)
  const [ready, executed] = [of('ready ms'), of('first execution ms')]
  return barPlot({
    title: 'From the start of the process',
    unit: 'ms',
    parts: ['until ready', 'until the first execution was answered'],
    bars: starts.map(({ label }, i) => ({
      name: label,
      values: [ready[i] ?? 0, (executed[i] ?? 0) - (ready[i] ?? 0)],
    })),
  })
}

function plots(drawn: readonly string[]): string {
  const some = drawn.filter((plot) => plot !== '')
  return some.length === 0 ? '' : `<div class="plots">${some.join('')}</div>`
}

function table([head = [], ...rows]: Table): string {
  return `<div class="scroll"><table><thead>${line('th', head)}</thead><tbody>${rows.map((cells) => line('td', cells)).join('')}</tbody></table></div>`
}

function line(tag: 'th' | 'td', cells: readonly string[]): string {
  const cell = (text: string) => {
    const verdict = text === 'better' || text === 'worse' ? ` class="${text}"` : ''
    return `<${tag}${verdict}>${escaped(text)}</${tag}>`
  }
  return `<tr>${cells.map(cell).join('')}</tr>`
}
