// A report for the terminal, as Markdown for bench/RESULTS.md, and as one page with plots: no script, nothing loaded from elsewhere.
import { differenceTable, type Comparison } from './compare.ts'
import { DISTRIBUTION_SHARES } from './figures.ts'
import { barPlot, escaped, linePlot, PLOT_STYLE, type Line } from './plot.ts'
import { named, saturation, type Measurement, type Report, type ScenarioReport } from './report.ts'
import { aboutLines, aligned, blocksOf, checkedText, notes, type Table } from './tables.ts'

export function printed(report: Report, comparison?: Comparison, file = ''): string {
  const sections = report.scenarios.map((scenario) =>
    [
      `${scenario.name}: ${scenario.description}`,
      ...blocksOf(scenario).flatMap(({ title, table }) => [
        ...(title === undefined ? [] : ['', title]),
        aligned(table),
      ]),
      '',
      `checked: ${checkedText(scenario)}`,
    ].join('\n'),
  )
  const compared =
    comparison === undefined
      ? []
      : [
          [
            `Compared with ${file}`,
            ...comparison.remarks,
            ...(comparison.differences.length === 0
              ? []
              : [aligned(differenceTable(comparison.differences))]),
          ].join('\n'),
        ]
  const about = aboutLines(report).map(([name, value]) => `${name.padEnd(10)}${value}`)
  const head = `countersign bench: ${report.subject}, ${report.startedAt}`
  return `${[head, about.join('\n'), ...sections, notes(report).join('\n'), ...compared].join('\n\n')}\n`
}

const row = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

const markdownTable = ([head = [], ...body]: Table) => {
  const rule = `|${head.map((_cell, column) => (column === 0 ? ' --- ' : ' ---: ')).join('|')}|`
  return [row(head), rule, ...body.map(row)].join('\n')
}

export function markdown(report: Report): string {
  const about = [['date', report.startedAt], ['subject', report.subject], ...aboutLines(report)]
  return `${[
    '# Results',
    'Written by the bench, with `--markdown`.',
    about.map(([name, value]) => `- **${name}**: ${name === 'command' ? `\`${value}\`` : value}`).join('\n'),
    'How to read the tables:',
    notes(report)
      .map((note) => `- ${note}`)
      .join('\n'),
    ...report.scenarios.flatMap((scenario) => [
      `## ${scenario.name}`,
      `${scenario.description}.`,
      ...blocksOf(scenario).flatMap(({ title, table }) => [
        ...(title === undefined ? [] : [`${title}:`]),
        markdownTable(table),
      ]),
      `Checked: ${checkedText(scenario)}.`,
    ]),
  ].join('\n\n')}\n`
}

const items = (texts: readonly string[]) =>
  `<ul>${texts.map((each) => `<li>${escaped(each)}</li>`).join('')}</ul>`

export function page(report: Report, comparison?: Comparison): string {
  const when = `${report.startedAt.slice(0, 16).replace('T', ' ')} UTC`
  const compared =
    comparison === undefined
      ? ''
      : `<section><h2>Compared with the earlier report</h2>${items(comparison.remarks)}` +
        `${htmlTable(differenceTable(comparison.differences))}</section>`
  const sections = report.scenarios.map((scenario) => {
    const blocks = blocksOf(scenario).map(
      ({ title = '', table }) => `<h3>${escaped(title)}</h3>${htmlTable(table)}`,
    )
    return (
      `<section><h2>${escaped(scenario.name)}</h2><p>${escaped(scenario.description)}</p>` +
      `<div class="plots">${plotsOf(scenario)}</div>${blocks.join('')}<p>✓ ${escaped(checkedText(scenario))}</p></section>`
    )
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Countersign bench, ${escaped(when)}</title>
<style>${STYLE}${PLOT_STYLE}</style>
<h1>Countersign bench</h1><p>${escaped(report.subject)} · ${escaped(when)}</p>
${compared}
${sections.join('\n')}
<section><h2>How it was measured</h2>
${items(aboutLines(report).map(([name, value]) => `${name}: ${value}`))}${items(notes(report))}</section>
</html>
`
}

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 1320px; margin: 0 auto; padding: 20px; font: 15px/1.5 system-ui, sans-serif; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(400px, 100%), 1fr)); gap: 24px; }
div:has(> table) { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 8px; text-align: right; white-space: nowrap; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
`

const line = (tag: 'th' | 'td', cells: readonly string[]) =>
  `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`

function htmlTable([head = [], ...rows]: Table): string {
  return `<div><table>${line('th', head)}${rows.map((cells) => line('td', cells)).join('')}</table></div>`
}

const overTime = (name: string, { stepSeconds }: { stepSeconds: number }, values: readonly number[]) => ({
  name,
  points: values.map((y, i) => ({ x: (i + 0.5) * stepSeconds, y })),
})

function plotsOf(scenario: ScenarioReport): string {
  const { measurements } = scenario
  const best = saturation(scenario)
  const where = best === undefined ? '' : named(best)
  const { open, paced } = best?.overTime ?? {}
  return [
    bars('Throughput', 'replies per second', measurements, ({ perSecond }) => ({ '': perSecond?.median })),
    linePlot({
      title: 'Latency distribution',
      xLabel: 'share of the requests that were at most so slow, last round',
      yLabel: 'ms, at the fixed rate',
      lines: measurements.flatMap(({ label: name, latency }): Line[] =>
        latency === undefined
          ? []
          : [
              {
                name,
                points: latency.distribution.map((y, i) => ({ x: rarity(DISTRIBUTION_SHARES[i] ?? 0), y })),
              },
            ],
      ),
      xTicks: [0.5, 0.9, 0.99, 0.999, 0.9999].map((share) => ({
        at: rarity(share),
        text: `${share * 100} %`,
      })),
    }),
    linePlot({
      title: `Throughput over time, ${where}`,
      xLabel: 'seconds, last round',
      yLabel: 'replies per second',
      lines: open === undefined ? [] : [overTime('', open, open.perSecond)],
    }),
    linePlot({
      title: `Latency over time, ${where}`,
      xLabel: 'seconds, last round',
      yLabel: 'ms, at the fixed rate',
      lines:
        paced === undefined ? [] : [overTime('p50', paced, paced.p50Ms), overTime('p99', paced, paced.p99Ms)],
    }),
    bars('CPU by part', 'µs per reply at open throttle', measurements, ({ cpu }) => ({
      door: cpu?.door.median,
      workers: cpu?.workers.median,
      helpers: cpu?.helpers.median,
      PostgreSQL: cpu?.postgres.median,
    })),
    bars('From the start of the process', 'ms', measurements, ({ more }) => {
      const ready = more['ready ms']?.median
      const executed = more['first execution ms']?.median
      return { 'until ready': ready, 'until the first answer': ready && executed && executed - ready }
    }),
  ].join('')
}

function bars(
  title: string,
  unit: string,
  measurements: readonly Measurement[],
  of: (measurement: Measurement) => Record<string, number | undefined>,
): string {
  const known = measurements.flatMap((measurement) => {
    const values = Object.values(of(measurement)).filter((value) => value !== undefined)
    return values.length === 0 ? [] : [{ name: measurement.label, values }]
  })
  const parts = Object.keys(measurements[0] === undefined ? {} : of(measurements[0]))
  return barPlot({ title, unit, parts, bars: known })
}

/** Each step to the right is ten times rarer; the maximum lies at the end. */
function rarity(share: number): number {
  return Math.min(5, -Math.log10(1 - Math.min(share, 0.99999)))
}
