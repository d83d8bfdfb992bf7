// Documents that are tables of rows and the tests that prove each: how they are written, and what their tests ask of them.
import { cell } from './cited.ts'

export interface Row {
  /** Titles, as `isTest` of cited.ts reads them, by path below test/. */
  readonly tests: Readonly<Record<string, readonly string[]>>
}

export type Sections<R extends Row> = Readonly<Record<string, readonly R[]>>

/** Headings of the columns, in order, and what stands in them; the tests come last. */
export type Columns<R extends Row> = Readonly<Record<string, (row: R) => string>>

export interface Citation {
  readonly file: string
  readonly title: string
}

export function citationsOf({ tests }: Row): Citation[] {
  return Object.entries(tests).flatMap(([file, titles]) => titles.map((title) => ({ file, title })))
}

/** The document's text: its head, and a table for each section. */
export function documentOf<R extends Row>(head: string, sections: Sections<R>, columns: Columns<R>): string {
  const headings = `| ${[...Object.keys(columns), 'By test'].join(' | ')} |`
  const rule = `|${'---|'.repeat(Object.keys(columns).length + 1)}`
  const line = (row: R) => {
    const cells = Object.values(columns).map((text) => cell(text(row)))
    return `| ${[...cells, testsCell(row)].join(' | ')} |`
  }
  const parts = Object.entries(sections).map(([name, rows]) =>
    [`## ${name}\n`, headings, rule, ...rows.map(line), ''].join('\n'),
  )
  return [head, ...parts].join('\n')
}

function testsCell(row: Row): string {
  return citationsOf(row)
    .map(({ file, title }) => `\`test/${file}.test.ts\` › ${cell(title.replace(' | ', ': '))}`)
    .join('<br>')
}
