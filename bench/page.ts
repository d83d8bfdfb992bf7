// A report as one page: its Markdown with plots, no script, nothing loaded from elsewhere.
import { escapeHtml } from '../src/formats/text/text.ts'
import { Marked, type Tokens } from 'marked'
import type { Comparison } from './compare.ts'
import type { Figures } from './figures.ts'
import type { OverTime } from './load.ts'
import { sectionsOf } from './markdown.ts'
import { barPlot, linePlot, PLOT_STYLE } from './plot.ts'
import { named, saturation, type Measurement, type Report, type ScenarioReport } from './report.ts'

/** The name of a deployment or a file is text: neither markup nor an address to go to. */
const toHtml = new Marked({
  renderer: {
    html: ({ text }) => escapeHtml(text),
    link: ({ raw }) => escapeHtml(raw),
    image: ({ raw }) => escapeHtml(raw),
    table({ header, rows }) {
      const heads = header.map(({ tokens }) => this.parser.parseInline(tokens))
      const cells = (row: readonly Tokens.TableCell[]) =>
        row.map((one, i) => `<td data-head="${heads[i]}">${this.parser.parseInline(one.tokens)}</td>`)
      const lines = [heads.map((head) => `<th>${head}</th>`), ...rows.map(cells)]
      const [head, ...body] = lines.map((line) => `<tr>${line.join('')}</tr>`)
      return `<table><thead>${head}</thead><tbody>${body.join('\n')}</tbody></table>\n`
    },
  },
})

export function page(report: Report, comparison?: Comparison): string {
  const sections = sectionsOf(report, comparison).map(({ markdown, scenario }) => {
    const html = toHtml.parse(markdown, { async: false })
    const plots = scenario === undefined ? '' : `<div class="plots">${plotsOf(scenario)}</div>`
    // The plots stand behind heading and description.
    return `<section>${plots === '' ? html : html.replace('</p>', `</p>${plots}`)}</section>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Countersign bench, ${escapeHtml(report.startedAt)}</title>
<style>${STYLE}${PLOT_STYLE}</style>
${sections.join('\n')}
</html>
`
}

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 1320px; margin: 0 auto; padding: 20px; font: 15px/1.5 system-ui, sans-serif; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(400px, 100%), 1fr)); gap: 24px; }
section { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 8px; white-space: nowrap; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
code { overflow-wrap: anywhere; }
blockquote { margin: 16px 0; padding: 4px 16px; border: 2px solid #d97706; border-radius: 6px; background: #d9770622; }
/* On a phone a row is a card: its cells flow, each below its head. */
@media (max-width: 900px) {
  body { padding: 12px; }
  table, tbody { display: block; }
  thead { display: none; }
  tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(76px, 1fr)); margin-bottom: 12px; border: 1px solid #8884; border-radius: 6px; }
  td, td:first-child { text-align: left; white-space: normal; border: 0; }
  td:first-child { grid-column: 1 / -1; font-weight: 600; border-bottom: 1px solid #8884; }
  td::before { content: attr(data-head); display: block; color: #888; font-size: 11px; font-weight: 400; }
  td:first-child::before { display: inline; margin-right: 6px; }
}
`

function plotsOf(scenario: ScenarioReport): string {
  const { measurements } = scenario
  const best = saturation(scenario)
  const where = best === undefined ? '' : named(best)
  const { open, paced } = best?.lastRound ?? {}
  const line = (name: string, values: readonly number[] = [], stepSeconds = paced?.stepSeconds ?? 0) => ({
    name,
    points: values.map((y, i) => ({ x: (i + 0.5) * stepSeconds, y })),
  })
  const overTime = (title: string, yLabel: string, lines: readonly ReturnType<typeof line>[]) =>
    linePlot({ title: `${title} over time, ${where}`, xLabel: 'seconds, last round', yLabel, lines })
  return [
    bars('Throughput', 'replies per second', measurements, { '': of('per s') }),
    linePlot({
      title: 'Latency distribution',
      xLabel: 'share of the requests that were at most so slow, last round',
      yLabel: 'ms, at the fixed rate',
      lines: measurements.map(({ label, lastRound }) => ({
        name: label,
        points: lastRound?.latency.map(({ percent, ms }) => ({ x: rarity(percent), y: ms })) ?? [],
      })),
      xTicks: [50, 90, 99, 99.9, 99.99].map((percent) => ({ at: rarity(percent), text: `${percent} %` })),
    }),
    overTime('Throughput', 'replies per second', [line('', open?.perSecond, open?.stepSeconds)]),
    overTime(
      'Replies at the rate',
      'per second',
      scenario.service === undefined ? repliesOf(paced).map(([name, values]) => line(name, values)) : [],
    ),
    overTime('Latency', 'ms, at the fixed rate', [line('p50', paced?.p50Ms), line('p99', paced?.p99Ms)]),
    bars('CPU by part', 'µs per reply at open throttle', measurements, {
      'front end': of('front end'),
      workers: of('workers'),
      helpers: of('helpers'),
      PostgreSQL: of('postgres'),
    }),
    bars('From the start of the process', 'ms', measurements, {
      'until ready': of('ready ms'),
      'until the first answer': (figures) =>
        (of('first execution ms')(figures) ?? Number.NaN) - (of('ready ms')(figures) ?? Number.NaN),
    }),
  ].join('')
}

/** @returns lines for due requests and right replies; for errors and 429s where there were any */
function repliesOf(paced: OverTime | undefined): (readonly [string, readonly number[]])[] {
  if (paced === undefined) return []
  const rates = (counts: readonly number[]) => counts.map((count) => count / paced.stepSeconds)
  const lines = [
    ['due', paced.duePerSecond],
    ['right', paced.perSecond],
    ['errors', rates(paced.errors)],
    ['429', rates(paced.limited)],
  ] as const
  return lines.filter(([name, values]) => name === 'right' || values.some((value) => value > 0))
}

type Part = (figures: Figures) => number | undefined

const of =
  (name: string): Part =>
  (figures) =>
    figures[name]?.median

/** A bar for each measurement that has all parts. */
function bars(
  title: string,
  unit: string,
  measurements: readonly Measurement[],
  parts: Readonly<Record<string, Part>>,
): string {
  const drawn = measurements.map(({ label: name, figures }) => ({
    name,
    values: Object.values(parts).map((part) => part(figures) ?? Number.NaN),
  }))
  return barPlot({
    title,
    unit,
    parts: Object.keys(parts),
    bars: drawn.filter(({ values }) => values.every(Number.isFinite)),
  })
}

/** Each step to the right is ten times rarer; the maximum lies at the end. */
function rarity(percent: number): number {
  return Math.min(5, -Math.log10(1 - Math.min(percent, 99.999) / 100))
}
