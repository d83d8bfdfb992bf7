// The two tables of the handbook that are made from the gates of the HTTP front end: who may use how much, and what a 503 means.
import { gates } from '../../src/core/errors/gates.ts'
import { limitNames, throttles } from '../../src/server/http/gates/index.ts'

/** @param chapter the text of docs/handbook/operating.md */
export function withGates(chapter: string): string {
  return withTable(
    withTable(chapter, '## Who may use how much', whoMayUseHowMuch()),
    '### A 503 names its gate',
    a503(),
  )
}

function whoMayUseHowMuch(): string[] {
  return [
    '| name | what is counted | for whom | how much | beyond it |',
    '|---|---|---|---|---|',
    ...Object.entries(throttles).map(([name, { counts, whom, bound, beyond }]) => {
      const isLabel = limitNames.includes(name) || name in gates
      return row(isLabel ? `\`${name}\`` : name, counts, whom, bound, String(beyond))
    }),
  ]
}

function a503(): string[] {
  return [
    '| `gate` | what it means | what to do |',
    '|---|---|---|',
    ...Object.entries(gates).map(([gate, { means, remedy }]) => row(`\`${gate}\``, means, remedy)),
  ]
}

const row = (...cells: string[]) => `| ${cells.join(' | ')} |`

/** Replaces the first table below a heading. */
function withTable(chapter: string, heading: string, lines: readonly string[]): string {
  const at = chapter.indexOf('\n|', chapter.indexOf(`\n${heading}\n`)) + 1
  const end = chapter.indexOf('\n\n', at)
  return chapter.slice(0, at) + lines.join('\n') + chapter.slice(end)
}
