// The report as Markdown, for bench/RESULTS.md: what was measured, on what, and by which command.
import type { Report, ScenarioReport } from './report.ts'
import {
  aboutLines,
  checkedText,
  cpuTable,
  hasCpu,
  notes,
  speedTable,
  yardstickTable,
  type Table,
} from './terminal.ts'
import { trendText } from './trend.ts'

export function markdown(report: Report): string {
  const about = [
    ['date', report.startedAt],
    ['subject', report.subject],
    ...aboutLines(report).map(([name, text]) => [name, name === 'command' ? `\`${text}\`` : text]),
    [
      'steal',
      `at most ${worst(report, 'steal')} % of all cores in any run; other programs at most ${worst(report, 'others')} %`,
    ],
  ]
  return `${[
    '# Results',
    'Written by the bench, with `--markdown`.',
    about.map(([name, text]) => `- **${name}**: ${text}`).join('\n'),
    'How to read the tables:',
    notes(report).replace(/^/gm, '- '),
    ...report.scenarios.map(section),
  ].join('\n\n')}\n`
}

function section(scenario: ScenarioReport): string {
  const trend = trendText(scenario)
  return [
    `## ${scenario.name}`,
    `${scenario.description}.`,
    rows(speedTable(scenario)),
    ...(hasCpu(scenario) ? ['CPU microseconds per reply at open throttle:', rows(cpuTable(scenario))] : []),
    ...(scenario.yardsticks === undefined
      ? []
      : ['In the same rounds:', rows(yardstickTable(scenario, scenario.yardsticks))]),
    ...(trend === undefined ? [] : [trend]),
    `Checked: ${checkedText(scenario)}.`,
  ].join('\n\n')
}

function worst({ scenarios }: Report, what: 'steal' | 'others'): string {
  const values = scenarios.flatMap(({ measurements }) =>
    measurements.flatMap(({ disturbance }) => (disturbance === undefined ? [] : [disturbance[what]])),
  )
  return values.length === 0 ? 'n/a' : Math.max(...values).toFixed(0)
}

function rows([head = [], ...body]: Table): string {
  const rule = `|${head.map((_cell, column) => (column === 0 ? ' --- ' : ' ---: ')).join('|')}|`
  return [line(head), rule, ...body.map(line)].join('\n')
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
