// A report as one page: its Markdown with plots, no script, nothing loaded from elsewhere.
import { Marked } from 'marked'
import type { Comparison } from './compare.ts'
import type { Figures } from './figures.ts'
import { sectionsOf } from './markdown.ts'
import { barPlot, escaped, linePlot, PLOT_STYLE } from './plot.ts'
import { named, saturation, type Measurement, type Report, type ScenarioReport } from './report.ts'

/** What a deployment or a file is called is text: neither markup nor an address to go to. */
const toHtml = new Marked({
  renderer: {
    html: ({ text }) => escaped(text),
    link: ({ raw }) => escaped(raw),
    image: ({ raw }) => escaped(raw),
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
<title>Countersign bench, ${escaped(report.startedAt)}</title>
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
th, td { padding: 3px 8px; white-space: nowrap; border-bottom: 1px solid #8884; }
th:first-child { text-align: left; }
`

function plotsOf(scenario: ScenarioReport): string {
  const { measurements } = scenario
  const best = saturation(scenario)
  const where = best === undefined ? '' : named(best)
  const { open, paced } = best?.lastRound ?? {}
  const overTime = (values: readonly number[] = []) =>
    values.map((y, i) => ({ x: (i + 0.5) * (open?.stepSeconds ?? 0), y }))
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
    linePlot({
      title: `Throughput over time, ${where}`,
      xLabel: 'seconds, last round',
      yLabel: 'replies per second',
      lines: [{ name: '', points: overTime(open?.perSecond) }],
    }),
    linePlot({
      title: `Latency over time, ${where}`,
      xLabel: 'seconds, last round',
      yLabel: 'ms, at the fixed rate',
      lines: [
        { name: 'p50', points: overTime(paced?.p50Ms) },
        { name: 'p99', points: overTime(paced?.p99Ms) },
      ],
    }),
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
