// The report as a table for the terminal; the same lines, with bars, make the Markdown.
import { figureOf, spreadOf, type Figure } from './figures.ts'
import { figureText, type Measurement, type Report, type ScenarioReport, type Yardsticks } from './report.ts'

import { trendText } from './trend.ts'

export type Table = readonly (readonly string[])[]

export function printed(report: Report): string {
  const about = aboutLines(report).map(([name, text]) => `${name.padEnd(10)}${text}`)
  const parts = report.scenarios.map((scenario) =>
    [
      `${scenario.name}: ${scenario.description}`,
      aligned(speedTable(scenario)),
      ...(hasCpu(scenario) ? ['', 'CPU µs per reply at open throttle', aligned(cpuTable(scenario))] : []),
      ...(scenario.yardsticks === undefined
        ? []
        : ['', aligned(yardstickTable(scenario, scenario.yardsticks))]),
      '',
      ...optional(trendText(scenario)),
      `checked: ${checkedText(scenario)}`,
    ].join('\n'),
  )
  return `${[`countersign bench: ${report.subject}, ${report.startedAt}`, about.join('\n'), ...parts, notes(report)].join('\n\n')}\n`
}

function optional(text: string | undefined): string[] {
  return text === undefined ? [] : [text]
}

export function aboutLines({ machine, command, constants, seconds, scenarios }: Report): [string, string][] {
  const services = scenarios.flatMap(({ service }) => (service === undefined ? [] : [service]))
  const [service] = services.filter(({ postgres }) => postgres !== '')
  // A deployment is somewhere else, and its disk is not this one.
  const isHere = services.length > 0
  const disk = `, fsync of 8 KiB p50 ${figureText(machine.fsyncMs.p50, 2)} ms p99 ${figureText(machine.fsyncMs.p99, 2)} ms`
  return [
    ['command', command],
    [
      isHere ? 'machine' : 'generator',
      `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB.toFixed(0)} GiB, ${machine.system}${isHere ? disk : ''}`,
    ],
    [
      'versions',
      `${isHere ? 'commit' : 'of the bench: commit'} ${machine.commit}, Node ${machine.node}${service === undefined ? '' : `, PostgreSQL ${service.postgres}`}`,
    ],
    ...(service === undefined
      ? []
      : ([['service', `listener ${service.listener}, worker threads ${service.threads}`]] as [
          string,
          string,
        ][])),
    [
      'constants',
      Object.entries(constants)
        .map((constant) => constant.join(' '))
        .join(', '),
    ],
    ['took', `${(seconds / 60).toFixed(1)} min`],
  ]
}

/** How to read the columns; the words before a colon are their heads. */
const NOTES = [
  'per s: replies per second, every connection sending its next request at once.',
  'p50 ms, p99 ms, max ms: at a fixed rate (of half as many per second, webhook: 500), from when a request was due.',
  'batch mean, batch max: requests that shared a crossing to a worker thread.',
  'WAL B: bytes of PostgreSQL’s log per reply, whole images of pages after a checkpoint included.',
  'table B, index B: bytes that a stored execution takes.',
  'rate ÷ empty, CPU ÷ empty, p50 ÷ empty, p99 ÷ empty: beside a service whose database holds only what such runs have stored, measured in turn with it.',
  'rate ÷ other, CPU ÷ other, p50 ÷ other, p99 ÷ other: this ÷ the service of --beside, measured in turn with it; latency of both at half of the slower one’s rate.',
  'helpers: threads of V8 and libuv in the service.',
  'generator, its core %, generator’s core %: the load program, and how much of a core it took.',
  'steal %, others %: what the host took of all cores, and what other programs took; in the worst round.',
]

/** Units and how to read the tables, of what stands in them. */
export function notes({ constants, scenarios }: Report): string {
  const rounds = Number(constants['rounds'])
  const heads = new Set(
    scenarios.flatMap((one) => [
      ...(speedTable(one)[0] ?? []),
      ...((hasCpu(one) ? cpuTable(one)[0] : undefined) ?? []),
    ]),
  )
  return [
    ...NOTES.filter((note) =>
      note
        .slice(0, note.indexOf(':'))
        .split(', ')
        .some((head) => heads.has(head)),
    ),
    rounds > 1
      ? `Each figure is the median of ${rounds} rounds, ± half of the way from the least to the greatest.`
      : 'One round: nothing is known about the noise (--rounds).',
  ].join('\n')
}

export function checkedText({ checked: { replies, rows, verifiedOffline } }: ScenarioReport): string {
  return [
    `${replies} replies, all as they must be`,
    ...(rows === undefined
      ? []
      : [rows.length === 0 ? 'no new rows' : `as many new rows in ${rows.join(', ')} as they say`]),
    ...(verifiedOffline === 0 ? [] : [`${verifiedOffline} pieces of evidence verified offline`]),
  ].join('; ')
}

type Column = readonly [title: string, cell: (measurement: Measurement) => string | undefined]

/** Without the columns that nothing was measured for. */
export function speedTable({ measurements }: ScenarioReport): Table {
  const isLoad = measurements.some(({ connections }) => connections !== undefined)
  const more = [...new Set(measurements.flatMap((measurement) => Object.keys(measurement.more)))]
  const columns: Column[] = [
    [isLoad ? 'connections' : 'start', ({ label }) => label],
    ['per s', ({ perSecond }) => perSecond && noisy(perSecond)],
    ['at rate', ({ latency }) => latency && noisy(latency.ratePerSecond)],
    ['p50 ms', ({ latency }) => latency && noisy(latency.p50, 1)],
    ['p99 ms', ({ latency }) => latency && noisy(latency.p99, 1)],
    ['max ms', ({ latency }) => latency && figureText(latency.max.max)],
    ['batch mean', ({ batches }) => batches && figureText(batches.mean, 1)],
    ['batch max', ({ batches }) => batches && figureText(batches.max)],
    ...more.map((name): Column => {
      const decimals = name.includes('÷') ? 2 : 0
      return [name, (one) => one.more[name] && noisy(one.more[name], decimals)]
    }),
    // Beside CPU by part it has a column there.
    [
      'generator’s core %',
      ({ cpu, generator }) =>
        cpu === undefined && generator !== undefined
          ? figureText(generator.coreShare.median * 100)
          : undefined,
    ],
    ['steal %', ({ disturbance }) => disturbance && figureText(disturbance.steal)],
    ['others %', ({ disturbance }) => disturbance && figureText(disturbance.others)],
  ]
  const measured = columns.filter(([, cell]) => measurements.some((one) => cell(one) !== undefined))
  return [
    measured.map(([title]) => title),
    ...measurements.map((one) => measured.map(([, cell]) => cell(one) ?? 'n/a')),
  ]
}

export function hasCpu({ measurements }: ScenarioReport): boolean {
  return measurements.some(({ cpu }) => cpu !== undefined)
}

export function cpuTable({ measurements }: ScenarioReport): Table {
  const hasFloor = measurements.some(({ cpu }) => cpu?.timesFloor !== undefined)
  return [
    [
      'connections',
      'door',
      'workers',
      'helpers',
      'postgres',
      'total',
      ...(hasFloor ? ['× floor'] : []),
      'generator',
      'its core %',
    ],
    ...measurements.map(({ label, cpu, generator }) => [
      label,
      ...[cpu?.door, cpu?.workers, cpu?.helpers, cpu?.postgres, cpu?.total].map((figure) => noisy(figure)),
      ...(hasFloor ? [noisy(cpu?.timesFloor, 2)] : []),
      noisy(generator?.micros),
      figureText(generator && generator.coreShare.median * 100),
    ]),
  ]
}

const YARDSTICK_NAMES = {
  floor: 'floor: what cannot be avoided, by 64',
  singleRows: 'single rows: a commit each, 16 connections',
  naive: 'naive: a transaction for each request',
} as const

/** The service's own best beside them. */
export function yardstickTable({ measurements }: ScenarioReport, yardsticks: Yardsticks): Table {
  const best = measurements.toSorted((a, b) => (b.perSecond?.median ?? 0) - (a.perSecond?.median ?? 0))[0]
  const ours = best?.perSecond?.median
  const rows = (Object.keys(YARDSTICK_NAMES) as (keyof typeof YARDSTICK_NAMES)[]).map((name) => {
    const { perSecond, programMicros, postgresMicros } = yardsticks[name]
    return [
      YARDSTICK_NAMES[name],
      noisy(perSecond),
      noisy(programMicros),
      noisy(postgresMicros),
      noisy(postgresMicros && added(programMicros, postgresMicros)),
      ours === undefined ? 'n/a' : figureText(ours / perSecond.median, 2),
    ]
  })
  return [['yardstick', 'per s', 'program µs', 'postgres µs', 'total µs', 'service ÷ it'], ...rows]
}

function added(a: Figure, b: Figure): Figure {
  return figureOf(a.values.map((value, round) => value + (b.values[round] ?? Number.NaN)))
}

/** `4012 ±3%` */
export function noisy(figure: Figure | undefined, decimals = 0): string {
  if (figure === undefined) return 'n/a'
  const small = decimals === 0 && figure.median < 10 ? 1 : decimals
  const text = figureText(figure.median, small)
  return figure.values.length < 2 ? text : `${text} ±${(spreadOf(figure) * 100).toFixed(0)}%`
}

/** Right-aligned, as figures are read; the first column names the row. */
export function aligned(table: Table): string {
  const widths = table[0]?.map((_title, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  return table
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths?.[0] ?? 0) : cell.padStart(widths?.[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
