// The tables of a report and how to read them; bench/render.ts prints them for the terminal, as Markdown and as a page.
import { spreadOf, type Figure } from './figures.ts'
import { saturation, type Measurement, type Report, type ScenarioReport } from './report.ts'

/** The first row holds the heads, the first column names the row. */
export type Table = readonly (readonly string[])[]

export interface Block {
  readonly title?: string
  readonly table: Table
}

export function blocksOf(scenario: ScenarioReport): Block[] {
  const { measurements, floor } = scenario
  const cpu = cpuTable(measurements)
  return [
    { table: speedTable(measurements) },
    ...(cpu === undefined ? [] : [{ title: 'CPU µs per reply at open throttle', table: cpu }]),
    ...(floor === undefined
      ? []
      : [
          {
            title: 'The floor in the same rounds: what cannot be avoided, in batches of 64; CPU µs',
            table: [
              ['', 'per s', 'program', 'postgres', 'total', 'service ÷ floor'],
              [
                'floor',
                noisy(floor.perSecond),
                noisy(floor.program),
                noisy(floor.postgres),
                noisy(floor.total),
                text((saturation(scenario)?.perSecond?.median ?? Number.NaN) / floor.perSecond.median, 2),
              ],
            ],
          },
        ]),
  ]
}

type Column = readonly [title: string, cell: (measurement: Measurement) => string | undefined]

/** Leaves out the columns that nothing was measured for. */
function tableOf(columns: readonly Column[], measurements: readonly Measurement[]): string[][] {
  const measured = columns.filter(([, cell]) => measurements.some((one) => cell(one) !== undefined))
  return [
    measured.map(([title]) => title),
    ...measurements.map((one) => measured.map(([, cell]) => cell(one) ?? 'n/a')),
  ]
}

const label = (measurements: readonly Measurement[]): Column => [
  measurements.some(({ connections }) => connections !== undefined) ? 'connections' : 'start',
  (one) => one.label,
]

function speedTable(measurements: readonly Measurement[]): Table {
  const more = [...new Set(measurements.flatMap((measurement) => Object.keys(measurement.more)))]
  return tableOf(
    [
      label(measurements),
      ['per s', ({ perSecond }) => perSecond && noisy(perSecond)],
      ['at rate', ({ latency }) => latency && noisy(latency.ratePerSecond)],
      ['p50 ms', ({ latency }) => latency && noisy(latency.p50, 1)],
      ['p99 ms', ({ latency }) => latency && noisy(latency.p99, 1)],
      ['max ms', ({ latency }) => latency && text(latency.max.max)],
      ['batch mean', ({ batches }) => batches && text(batches.mean, 1)],
      ['batch max', ({ batches }) => batches && text(batches.max)],
      ...more.map((name): Column => {
        const decimals = name.includes('÷') ? 2 : 0
        return [name, (one) => one.more[name] && noisy(one.more[name], decimals)]
      }),
      // Beside CPU by part it has a column there.
      ['generator’s core %', ({ cpu, generator }) => (cpu ? undefined : coreShare(generator))],
      ['steal %', ({ disturbance }) => disturbance && text(disturbance.steal)],
      ['others %', ({ disturbance }) => disturbance && text(disturbance.others)],
    ],
    measurements,
  )
}

const part = (name: keyof NonNullable<Measurement['cpu']>, title: string, decimals = 0): Column => [
  title,
  ({ cpu }) => cpu?.[name] && noisy(cpu[name], decimals),
]

function cpuTable(measurements: readonly Measurement[]): Table | undefined {
  if (!measurements.some(({ cpu }) => cpu !== undefined)) return undefined
  return tableOf(
    [
      label(measurements),
      part('door', 'door'),
      part('workers', 'workers'),
      part('helpers', 'helpers'),
      part('postgres', 'postgres'),
      part('total', 'total'),
      part('timesFloor', '× floor', 2),
      ['generator', ({ generator }) => generator && noisy(generator.micros)],
      ['its core %', ({ generator }) => coreShare(generator)],
    ],
    measurements,
  )
}

function coreShare(generator: Measurement['generator']): string | undefined {
  return generator && text(generator.coreShare.median * 100)
}

export function aboutLines({
  machine,
  command,
  constants,
  seconds,
  scenarios,
}: Report): [name: string, text: string][] {
  const service = scenarios.find((scenario) => scenario.service !== undefined)?.service
  // A deployment runs elsewhere, and its disk is not this one.
  const disk = `, fsync of 8 KiB p50 ${text(machine.fsyncMs.p50, 2)} ms p99 ${text(machine.fsyncMs.p99, 2)} ms`
  const worst = (what: 'steal' | 'others') =>
    text(Math.max(...scenarios.flatMap((one) => one.measurements.map((of) => of.disturbance?.[what] ?? 0))))
  return [
    ['command', command],
    [
      service === undefined ? 'generator' : 'machine',
      `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB.toFixed(0)} GiB, ${machine.system}${service === undefined ? '' : disk}`,
    ],
    [
      'versions',
      `${service === undefined ? 'of the bench: ' : ''}commit ${machine.commit}, Node ${machine.node}${service === undefined ? '' : `, PostgreSQL ${service.postgres}`}`,
    ],
    ...(service === undefined
      ? []
      : [
          ['service', `listener ${service.listener}, worker threads ${service.threads}`] satisfies [
            string,
            string,
          ],
          [
            'disturbed',
            `at most ${worst('steal')} % of all cores in any run by the host, ${worst('others')} % by other programs`,
          ] satisfies [string, string],
        ]),
    ['constants', constantsText(constants)],
    ['took', `${(seconds / 60).toFixed(1)} min`],
  ]
}

export function constantsText(constants: Report['constants']): string {
  return Object.entries(constants)
    .map((constant) => constant.join(' '))
    .join(', ')
}

/** How to read the columns; the words before a colon are their heads. */
const NOTES = [
  'per s: replies per second, every connection sending its next request at once.',
  'p50 ms, p99 ms, max ms: at a fixed rate, from when a request was due.',
  'batch mean, batch max: requests that shared a batch on a worker thread.',
  'WAL B: bytes of PostgreSQL’s log per reply, whole images of pages after a checkpoint included.',
  'table B, index B: bytes that a stored execution takes.',
  'lag p99 ms, backlog max, drain s: from a delivery’s arrival until it was processed; deliveries that waited at the worst moment; from the last reply until none waited. CPU includes the processing.',
  'rate ÷ empty, CPU ÷ empty, p50 ÷ empty, p99 ÷ empty: beside a service whose database holds only what such runs have stored, measured in turn with it.',
  'rate ÷ other, CPU ÷ other, p50 ÷ other, p99 ÷ other: this ÷ the service of --beside, measured in turn with it; latency of both at half of the slower one’s rate.',
  'helpers: threads of V8 and libuv in the service.',
  'generator, its core %, generator’s core %: the load program, and how much of a core it took.',
  'steal %, others %: of all cores, taken away by the host and used by other programs; in the worst round.',
]

/** The notes for the columns that are in the tables, and what the noise is. */
export function notes({ constants, scenarios }: Report): string[] {
  const heads = new Set(scenarios.flatMap((one) => blocksOf(one).flatMap(({ table }) => table[0] ?? [])))
  const rounds = Number(constants['rounds'])
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
  ]
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

/** `4012 ±3%` */
export function noisy(figure: Figure, decimals = 0): string {
  const small = decimals === 0 && figure.median < 10 ? 1 : decimals
  const median = text(figure.median, small)
  return figure.values.length < 2 ? median : `${median} ±${(spreadOf(figure) * 100).toFixed(0)}%`
}

export function text(value: number | undefined, decimals = 0): string {
  return value === undefined || Number.isNaN(value) ? 'n/a' : value.toFixed(decimals)
}

/** For the terminal, right-aligned as figures are read. */
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
