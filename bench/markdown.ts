// A report as Markdown: for the terminal, for bench/RESULTS.md and, with plots, for the page (bench/page.ts).
import { CPU_PARTS } from './cpu.ts'
import { differenceTable, type Comparison } from './compare.ts'
import { spreadOf, text, type Figure } from './figures.ts'
import { disturbed, type Measurement, type Report, type ScenarioReport } from './report.ts'

/** The first row holds the heads, the first column names the row. */
export type Table = readonly (readonly string[])[]

interface Section {
  readonly markdown: string
  /** The scenario that its plots show. */
  readonly scenario?: ScenarioReport
}

export function markdown(report: Report, comparison?: Comparison): string {
  return `${sectionsOf(report, comparison)
    .map((section) => section.markdown)
    .join('\n\n')}\n`
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
    ...tablesOf(scenario).map(({ title, table }) => (title === '' ? '' : `${title}:\n\n`) + aligned(table)),
    `Checked: ${checkedText(scenario)}.`,
  ].join('\n\n')
}

function comparisonText({ file, differences, remarks }: Comparison): string {
  const parts = [
    `## Compared with ${file}`,
    ...(remarks.length === 0 ? [] : [list(remarks)]),
    ...(differences.length === 0 ? [] : [aligned(differenceTable(differences))]),
  ]
  return parts.join('\n\n')
}

const CPU_TITLE = 'CPU µs per reply'
const CPU_HEADS: string[] = [...CPU_PARTS, 'CPU total', '× floor', 'generator', 'its core %']
/** A part of the CPU beside that of another service: `workers ÷ other`. */
const isCpuHead = (head: string) =>
  CPU_HEADS.includes(head) || CPU_PARTS.some((part) => head.startsWith(`${part} ÷ `))
/** The worst round counts for these figures. */
const WORST = ['max ms', 'batch max', 'steal %', 'others %']

function tablesOf({ labels, measurements, further = {} }: ScenarioReport): { title: string; table: Table }[] {
  const tables = [
    { title: '', head: labels, rows: measurements, has: (head: string) => !isCpuHead(head) },
    { title: CPU_TITLE, head: labels, rows: measurements, has: isCpuHead },
    ...Object.entries(further).map(([title, rows]) => ({ title, head: '', rows, has: () => true })),
  ]
  return tables.flatMap(({ title, head, rows, has }) => {
    const heads = headsOf(rows).filter(has)
    const cells = rows.map(({ label, figures }) => [label, ...heads.map((name) => cell(name, figures[name]))])
    return heads.length === 0 ? [] : [{ title, table: [[head, ...heads], ...cells] }]
  })
}

/** Every figure that any of them has. */
function headsOf(rows: readonly Measurement[]): string[] {
  return [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))]
}

/** `4012 ±3%` */
function cell(head: string, figure: Figure | undefined): string {
  if (figure === undefined) return 'n/a'
  if (WORST.includes(head)) return text(figure.max)
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
  'at rate, p50 ms, p99 ms, max ms: at a fixed rate: replies per second, and their time from when a request was due.',
  'batch mean, batch max: requests that shared a batch on a worker thread.',
  'WAL B: bytes of PostgreSQL’s log per reply, whole images of pages after a checkpoint included.',
  'table B, index B: bytes that a stored execution takes.',
  'lag p99 ms, backlog max, drain s: from a delivery’s arrival until it was processed; deliveries that waited at the worst moment; from the last reply until none waited. CPU includes the processing.',
  'rate ÷ empty, CPU ÷ empty, p50 ÷ empty, p99 ÷ empty: beside a service whose database holds only what such runs have stored, measured in turn with it.',
  'rate ÷ other, CPU ÷ other, p50 ÷ other, p99 ÷ other: this ÷ the service of --beside, measured in turn with it; CPU, its parts and latency of both at half of the slower one’s rate.',
  'helpers: threads of V8 and libuv in the service.',
  'rate ÷ autocannon, CPU ÷ autocannon, p50 ÷ autocannon, p99 ÷ autocannon: the bench’s own generator ÷ autocannon, in turn on the same service; CPU and latency of both at one rate.',
  'errors, 429s, not sent: replies with another status than they must have, and requests without a reply; replies of a rate limit, which were waited for; requests that were due when no connection was free, until the end or because of a 429. None of them is in a rate or a latency.',
  'due/s, replies/s, worst p99 ms: requests that were due, right replies, and the highest p99 of a part of the row’s time.',
  'generator, its core %: the load program, and how much of a core it took.',
  'steal %, others %: of all cores, taken away by the host and used by other programs; in the worst round.',
  'MB/hour, ±: the slope over the time after the warm-up, and half of its 95 % interval.',
]

/** The notes for the columns that are in the tables, and what the noise is. */
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
      : `Each figure is the median of ${rounds} rounds, ± half of the way from the least to the greatest.`
  return [...NOTES.filter(isShown), ...(rounds === undefined ? [] : [noise])]
}

function checkedText({
  checked: { replies, errors = 0, limited = 0, errorsBy = {}, rows, verifiedOffline },
}: ScenarioReport): string {
  const said = Object.entries(errorsBy)
    .map(([what, count]) => `${what}: ${count}`)
    .join(', ')
  return [
    errors + limited === 0
      ? `${replies} replies, all as they must be`
      : `${replies} replies as they must be, ${errors} errors${said === '' ? '' : ` (${said})`}, ${limited} × 429`,
    ...(rows === undefined
      ? []
      : [rows.length === 0 ? 'no new rows' : `as many new rows in ${rows.join(', ')} as they say`]),
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
