// The statements of docs/interface.md §4 to §8, one by one: table rows, list items and paragraphs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Row {
  /** The section and the first words: `4.1/get-health-none-open-200`. Stays as it is while those words do. */
  readonly id: string
  /** `4.1`; `7 Idempotency` where a heading has no number. */
  readonly section: string
  readonly text: string
}

const INTERFACE = join(import.meta.dirname, '..', '..', 'docs', 'interface.md')
const SECTIONS = ['4', '5', '6', '7', '8']
const SLUG_WORDS = 5

/** in  markdown  the contract, one line a statement · out  in its order; ids may repeat, which the test refuses */
export function rowsOf(markdown: string): Row[] {
  const rows: Row[] = []
  let section = ''
  /** The bold line above, as `**POST /execute**`, which its items are about. */
  let about = ''
  for (const [i, line] of markdown.split('\n').entries()) {
    const [, level, number, heading = ''] = /^(##+) (?:(\d[\d.]*?)\.? )?(.*)$/.exec(line) ?? []
    if (level !== undefined) {
      section = number ?? (level === '##' ? heading : `${section} ${heading}`)
      about = ''
    }
    const [, bold] = /^\*\*(.*)\*\*$/.exec(line) ?? []
    if (bold !== undefined) about = `${bold}: `
    // A heading, or a line that only announces a list.
    if (level !== undefined || bold !== undefined || /^(\w+:|)$/.test(line)) continue
    if (!SECTIONS.includes(section.split(/[. ]/)[0] ?? '')) continue
    const text = line.startsWith('|') ? cells(line, markdown.split('\n')[i + 1]) : item(line)
    if (text === undefined) continue
    rows.push({ id: `${slug(section)}/${slug(about + text, SLUG_WORDS)}`, section, text: about + text })
  }
  return rows
}

export const interfaceRows = (): Row[] => rowsOf(readFileSync(INTERFACE, 'utf8'))

const isRule = (text: string): boolean => /^[|\s-]+$/.test(text) && text.includes('---')

/** A row's cells as one text; undefined for a table's head, which stands above a line of dashes, and for that line. */
function cells(line: string, next = ''): string | undefined {
  if (isRule(line) || isRule(next)) return undefined
  const filled = line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim())
  return filled.filter((cell) => cell !== '').join(' · ')
}

const item = (line: string): string => line.replace(/^\s*(-|\d+\.) /, '')

function slug(text: string, words = Infinity): string {
  const all = text.toLowerCase().match(/[a-z0-9.]*[a-z0-9]/g) ?? []
  return all.slice(0, words).join('-')
}
