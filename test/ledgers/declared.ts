// Which tests prove which rows of the ledgers. A test declares its rows in its own file, in comments directly above it:
// `// proves <the beginning of a row>`, or several of them separated by `; `. Above a case of a table it is that case.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Declaration {
  /** Path below test/. */
  readonly file: string
  /** As in the source, `%s` and all: `describe › test`, then `: case` where a case is declared. */
  readonly title: string
  /** The beginning of a row's name. */
  readonly row: string
}

const TESTS = join(import.meta.dirname, '..')
const DECLARED = /^ *\/\/ proves (.+)$/
const BLOCK = /^( *)(?:describe\w*|test)[.(<]/
const QUOTED = /\s*(['"`])(.*?)\1/
/** The first argument of `test(`, and of the second call in `test.each(…)(`. */
const TITLE = new RegExp(String.raw`^ *(?:describe\w*|test)(?:[.<][^]*?\))?\(${QUOTED.source}`)

/** @returns the declarations of all test files, by file and then in their order */
export function allDeclarations(): Declaration[] {
  return globSync('**/*.test.ts', { cwd: TESTS })
    .toSorted()
    .flatMap((file) => declarationsIn(file, readFileSync(join(TESTS, file), 'utf8')))
}

/**
 * Reads the source as prettier formats it: a test stands in the describes above it that are indented less.
 *
 * @throws where no test and no case follows a declaration
 */
export function declarationsIn(file: string, source: string): Declaration[] {
  const found: Declaration[] = []
  const blocks: { indent: number; title: string; titleEnd: number }[] = []
  let rows: string[] = []
  for (const { 0: line, index } of source.matchAll(/^.+$/gm)) {
    const rest = source.slice(index)
    const declared = DECLARED.exec(line)?.[1]
    if (declared !== undefined) {
      rows.push(...declared.split('; '))
      continue
    }
    const indent = BLOCK.exec(line)?.[1]?.length
    if (indent !== undefined) {
      const [text = '', , title = ''] = TITLE.exec(rest) ?? []
      while ((blocks.at(-1)?.indent ?? -1) >= indent) blocks.pop()
      blocks.push({ indent, title, titleEnd: index + text.length })
    }
    if (rows.length === 0) continue
    const path = blocks.map(({ title }) => title).join(' › ')
    const title = indent === undefined ? `${path}: ${QUOTED.exec(rest)?.[2]}` : path
    // The cases of a table stand before its title.
    if ((blocks.at(-1)?.titleEnd ?? 0) <= index)
      throw new Error(`test/${file}: no test and no case follows "// proves ${rows.join('; ')}"`)
    found.push(...rows.map((row) => ({ file, title, row })))
    rows = []
  }
  return found
}
