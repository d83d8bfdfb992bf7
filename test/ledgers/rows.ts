// The rows of the ledgers, each of which a test must declare: the statements of docs/interface.md §4 to §8, and the rows of the tables of
// docs/fault-matrix.md and docs/abuse.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Row {
  /** A declaration begins like this: `§4.1 GET /health · …`, `fault: …`, `abuse: …`. */
  readonly name: string
  /** `§4.1`; `§7 Idempotency` where a heading has no number. */
  readonly section: string
  readonly text: string
}

const DOCS = join(import.meta.dirname, '..', '..', 'docs')
const SECTIONS = ['4', '5', '6', '7', '8']

export const readDocument = (name: string): string => readFileSync(join(DOCS, name), 'utf8')

/** @param markdown the contract, one line per statement */
export function interfaceRows(markdown: string): Row[] {
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
    const own = line.startsWith('|') ? cells(line, markdown.split('\n')[i + 1]) : item(line)
    if (own === undefined) continue
    const text = about + own
    rows.push({ name: `§${section} ${text}`, section: `§${section}`, text })
  }
  return rows
}

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

/** A row of a document's own table: all but the last cell, which the generator writes, and the first. */
export const TABLE_ROW = /^(\| (?!.*\| By test \|$)(.*?) \|.*) \|.* \|$/gm

/** @param ledger the word that declarations name the document with */
export function tableRows(ledger: string, markdown: string): Row[] {
  return Array.from(markdown.matchAll(TABLE_ROW), ([, , text = '']) => ({
    name: `${ledger}: ${text}`,
    section: ledger,
    text,
  }))
}
