// A report as Markdown: for the terminal, for bench/RESULTS.md and, with plots, for the page (bench/page.ts).
import { CPU_COLUMNS } from './cpu.ts'
import { differenceTable, type Comparison } from './compare.ts'
import { spreadOf, text, type Figure } from './figures.ts'
import { disturbed, WARM_AFTER, type Measurement, type Report, type ScenarioReport } from './report.ts'

/** The first row holds the heads, the first column names the row. */
export type Table = readonly (readonly string[])[]

interface Section {
  readonly markdown: string
  /** The scenario that its plots show. */
  readonly scenario?: ScenarioReport
}

export function markdown(report: Report, comparison?: Comparison): string {
  return joined(sectionsOf(report, comparison).map((section) => section.markdown))
}

/** The report with its plots, as text that GitHub and other readers of Markdown draw. */
export function plottedMarkdown(report: Report): string {
  return joined(
    sectionsOf(report).flatMap((section) => [section.markdown, ...chartsOf(section.scenario?.measurements)]),
  )
}

const joined = (sections: readonly string[]) => `${sections.join('\n\n')}\n`

/** Rate and latency over connections, where there are enough of them for a line. */
function chartsOf(measurements: readonly Measurement[] = []): string[] {
  const points = measurements.filter(({ connections }) => connections !== undefined)
  if (points.length < 3) return []
  const chart = (head: string, title: string) => {
    const values = points.map(({ figures }) => figures[head]?.median)
    if (values.includes(undefined)) return []
    const x = points.map(({ connections }) => connections).join(', ')
    const lines = [
      'xychart-beta',
      `title "${title}"`,
      `x-axis "connections" [${x}]`,
      `y-axis "${head}"`,
      `line [${values.map((value) => Number(value?.toPrecision(3))).join(', ')}]`,
    ]
    return [`\`\`\`mermaid\n${lines.join('\n  ')}\n\`\`\``]
  }
  return [
    ...chart('per s', 'Replies per second, every connection sending its next request at once'),
    ...chart('p99 ms', 'p99 at half of that rate, in milliseconds'),
  ]
}

export function sectionsOf(report: Report, comparison?: Comparison): Section[] {
  const warning = disturbed(report)
  return [
    {
      markdown: `# Results\n\nWritten by the bench.${warning === undefined ? '' : `\n\n> **Disturbed.** ${warning}`}`,
    },
    { markdown: list(aboutLines(report)) },
    ...report.scenarios.map((scenario) => ({ scenario, markdown: scenarioText(scenario) })),
    { markdown: `## How to read the tables\n\n${list(notes(report))}` },
    ...(comparison === undefined ? [] : [{ markdown: comparisonText(comparison) }]),
  ]
}

const list = (texts: readonly string[]) => texts.map((one) => `- ${one}`).join('\n')

function scenarioText(scenario: ScenarioReport): string {
  return [
    `## ${scenario.name}`,
    `${scenario.description}.`,
    ...historyText(scenario),
    ...tablesOf(scenario).map(({ title, table }) => (title === '' ? '' : `${title}:\n\n`) + aligned(table)),
    `Checked: ${checkedText(scenario)}.`,
  ].join('\n\n')
}

/** Whether the services had been driven long enough before they were measured. */
function historyText({ history }: ScenarioReport): string[] {
  if (history === undefined) return []
  const answered = Object.entries(history.answered).map(([which, count]) => `${which} ${count}`)
  const said = `requests answered before the first run that counts: ${answered.join(', ')}`
  const why = `V8 compiles until about ${WARM_AFTER}, and a service takes more CPU until then (--warm-up)`
  return [history.isCold ? `> **Cold.** Few ${said}. ${why}.` : `Warm: ${said}.`]
}

function comparisonText({ file, differences, remarks }: Comparison): string {
  const parts = [
    `## Compared with ${file}`,
    ...(remarks.length === 0 ? [] : [list(remarks)]),
    ...(differences.length === 0 ? [] : [aligned(differenceTable(differences))]),
  ]
  return parts.join('\n\n')
}

const CPU_HEADS: string[] = [...CPU_COLUMNS, '× floor', 'generator', 'its core %']
/** The worst round counts for these figures. */
const WORST = ['max ms', 'batch max', 'steal %', 'others %']
/** The titles of ratio tables, by the divisor in the head of a ratio. */
const OTHERS: Readonly<Record<string, string>> = {
  other: 'This service ÷ that of --beside',
  empty: 'This service ÷ one whose database holds only what such runs have stored',
  autocannon: 'The bench’s own generator ÷ autocannon',
  key: 'Callers by token ÷ the same by key',
}
const RATIO = / ÷ (\w+)(, paced)?$/

/** @returns the title of the table in which a figure of a measurement stands, and its head there */
function placeOf(head: string): { title: string; shown: string } {
  const [behind = '', name = '', paced] = RATIO.exec(head) ?? []
  const what = OTHERS[name]
  if (what !== undefined) {
    const how = paced === undefined ? 'at open throttle' : 'at one rate'
    return { title: `${what}, ${how}`, shown: head.slice(0, -behind.length) }
  }
  return { title: CPU_HEADS.includes(head) ? 'CPU µs per reply' : '', shown: head }
}

function tablesOf({ labels, measurements, further = {} }: ScenarioReport): { title: string; table: Table }[] {
  const heads = headsOf(measurements)
  const titles = [...new Set(heads.map((head) => placeOf(head).title))]
  const tables = [
    ...titles.map((title) => ({
      title,
      head: labels,
      rows: measurements,
      heads: heads.filter((head) => placeOf(head).title === title),
    })),
    ...Object.entries(further).map(([title, rows]) => ({ title, head: '', rows, heads: headsOf(rows) })),
  ]
  return tables.map(({ title, head, rows, heads: shown }) => {
    const cells = rows.map(({ label, figures }) => [label, ...shown.map((name) => cell(name, figures[name]))])
    return { title, table: [[head, ...shown.map((name) => placeOf(name).shown)], ...cells] }
  })
}

/** The names of all figures that any of the rows has. */
function headsOf(rows: readonly Measurement[]): string[] {
  return [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))]
}

/** `4012 ±3%`, and a ratio with its least and its greatest: `0.97 (0.93–1.02)` */
function cell(head: string, figure: Figure | undefined): string {
  if (figure === undefined) return 'n/a'
  if (WORST.includes(head)) return text(figure.max)
  if (RATIO.test(head)) {
    const [ratio, min, max] = [figure.median, figure.min, figure.max].map((value) => value.toFixed(2))
    return figure.values.length < 2 ? ratio! : `${ratio} (${min}–${max})`
  }
  const median = text(figure.median)
  return figure.values.length < 2 ? median : `${median} ±${(spreadOf(figure) * 100).toFixed(0)}%`
}

function aboutLines(report: Report): string[] {
  const { subject, startedAt, machine, command, constants, seconds, saidSeconds, scenarios } = report
  const service = scenarios.find((scenario) => scenario.service !== undefined)?.service
  const { cpu, cores, memoryGiB, system, fsyncMs, commit, node } = machine
  const hardware = `${cpu}, ${cores} cores, ${memoryGiB.toFixed(0)} GiB, ${system}`
  const about = {
    date: startedAt,
    subject,
    command: `\`${command}\``,
    constants: Object.entries(constants)
      .map((constant) => constant.join(' '))
      .join(', '),
    took: `${(seconds / 60).toFixed(1)} min${saidSeconds === undefined ? '' : `, of ${(saidSeconds / 60).toFixed(1)} min at most`}`,
    'versions of the bench': `commit ${commit}, Node ${node}`,
  }
  const worst = (head: string) =>
    Math.max(...scenarios.flatMap((one) => one.measurements.map(({ figures }) => figures[head]?.max ?? 0)))
  // A deployment runs elsewhere, and its disk is not this one.
  const where =
    service === undefined
      ? { 'machine of the generator': hardware }
      : {
          machine: `${hardware}, fsync of 8 KiB p50 ${text(fsyncMs.p50)} ms p99 ${text(fsyncMs.p99)} ms`,
          service: `listener ${service.listener}, worker threads ${service.threads}, PostgreSQL ${service.postgres}`,
          disturbed: `at most ${text(worst('steal %'))} % of all cores in any run by the host, ${text(worst('others %'))} % by other programs`,
        }
  return Object.entries({ ...about, ...where }).map(([name, value]) => `**${name}**: ${value}`)
}

/** How to read the columns; the words before a colon are their heads. */
const NOTES = [
  'per s: replies per second at open throttle, every connection sending its next request at once; CPU is taken there too.',
  'at rate, p50 ms, p99 ms, max ms: at a fixed rate: replies per second, and their time by the clock of the load generator, from when a request was due. The time in Server-Timing is the service’s own, and shorter.',
  'rate, CPU, p50, p99, WAL, batch, at rest: of each round the ratio of two runs, one right after the other; printed are the median of these ratios, the least and the greatest. Latency is by the clock of the load generator: at open throttle from when a request was sent, at one rate from when it was due. That rate is half of what the second one brings, or the one of --rate. CPU and its parts, WAL and bytes at rest are those of one reply.',
  'batch mean, batch max: requests that shared a batch on a worker thread.',
  'WAL B: bytes of PostgreSQL’s log per reply, whole images of pages after a checkpoint included.',
  'at rest B: bytes of tables and indexes that a reply leaves, after VACUUM, over the whole round.',
  'lag p99 ms, backlog max, drain s: by the times in the database, from a delivery’s arrival until it was processed; deliveries that waited at the worst moment; from the last reply until none waited. CPU includes the processing.',
  'helpers: threads of V8 and libuv in the service.',
  'errors, 429s, not sent: replies with another status than they must have, and requests without a reply; replies of a rate limit, which were waited for; requests that were due when no connection was free, until the end or because of a 429. None of them is in a rate or a latency.',
  'due/s, replies/s, worst p99 ms: requests that were due, right replies, and the highest p99 of a part of the row’s time.',
  'generator, its core %: the load program, and how much of a core it took.',
  'steal %, others %: of all cores, taken away by the host and used by other programs; in the worst round.',
  'MB/hour, ±: the slope over the time after the warm-up, and half of its 95 % interval.',
]

/** The notes for the columns that are in the tables, and a note about the noise. */
function notes({ constants, scenarios }: Report): string[] {
  const heads = new Set(scenarios.flatMap((one) => tablesOf(one).flatMap(({ table }) => table[0] ?? [])))
  const isShown = (note: string) =>
    note
      .replace(/:.*/, '')
      .split(', ')
      .some((head) => heads.has(head))
  const { rounds } = constants
  const noise =
    rounds === 1
      ? 'One round: nothing is known about the noise (--rounds).'
      : `Each figure is the median of ${rounds} rounds, ± half of the way from the least to the greatest; of a ratio all three.`
  return [...NOTES.filter(isShown), ...(rounds === undefined ? [] : [noise])]
}

function checkedText({
  checked: { replies, errors = 0, limited = 0, errorsBy = {}, left, verifiedOffline },
}: ScenarioReport): string {
  const said = Object.entries(errorsBy)
    .map(([what, count]) => `${what}: ${count}`)
    .join(', ')
  return [
    errors + limited === 0
      ? `${replies} replies, all as they must be`
      : `${replies} replies as they must be, ${errors} errors${said === '' ? '' : ` (${said})`}, ${limited} × 429`,
    ...(left === undefined
      ? []
      : [left.length === 0 ? 'nothing new is stored' : `as many more ${left.join(', ')} as they say`]),
    ...(left?.includes('records') === true ? ['no claim is left without a record'] : []),
    ...(verifiedOffline === 0 ? [] : [`${verifiedOffline} pieces of evidence verified offline`]),
  ].join('; ')
}

/** A table of Markdown whose columns a terminal shows one below the other. */
function aligned([head = [], ...rows]: Table): string {
  const widths = head.map((_title, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => (i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width))).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}
