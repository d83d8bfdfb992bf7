// Tests that documents cite: whether one of this file and this title is there, so that a test that is renamed is noticed.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const TESTS = join(import.meta.dirname, '..')

/**
 * in   file   path below test/, without `.test.ts`
 *      title  `test` or `describe › test`, where a describe is one that stands at the top of the file; of a table of cases `test | case`
 *             with a quoted text of the case
 */
export function isTest(file: string, title: string): boolean {
  const path = join(TESTS, `${file}.test.ts`)
  if (!existsSync(path)) return false
  const source = readFileSync(path, 'utf8')
  const [full = '', example] = title.split(' | ')
  const [own = '', group] = full.split(' › ').toReversed()
  const holds = (text: string) => isTitled(text, own) && (example === undefined || isQuoted(text, example))
  if (group === undefined) return holds(source)
  const blocks = source.split(/^(?=describe)/m).map((block) => block.split('\n})\n')[0] ?? '')
  return blocks.some((block) => isTitled(block, group) && holds(block))
}

/** As the first argument of a call, in whatever quotes. */
function isTitled(source: string, title: string): boolean {
  return quoted(title).some((text) => new RegExp(`\\(\\s*${RegExp.escape(text)}`).test(source))
}

const isQuoted = (source: string, text: string): boolean => quoted(text).some((one) => source.includes(one))

const quoted = (text: string): string[] => ["'", '"', '`'].map((quote) => quote + text + quote)

/** Outside of code spans a `<` or a `*` would be read as markup, and a `|` anywhere would end the cell. */
export const cell = (text: string): string =>
  text
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part.replaceAll(/[<*_]/g, String.raw`\$&`) : part))
    .join('`')
    .replaceAll('|', String.raw`\|`)
