// Comments are sentences, or noun phrases that name their subject. A comment that begins with one of these words leaves its subject out
// (docs/contributing.md).
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const SUBJECTLESS = '(Of|What|Whatever|Who|Whoever|Whose)\\b'

/** The lines of a language whose comment begins so. */
const languages = {
  '{src,workers,bench,test,clients/typescript}/**/*.{ts,tsx}': new RegExp(
    `^\\s*(\\{?/\\*+|//|\\*) *${SUBJECTLESS}`,
  ),
  'clients/python/**/*.py': new RegExp(`^\\s*(#|""") *${SUBJECTLESS}`),
}
/** The generated client schema takes its comments from the OpenAPI document. */
const isWritten = (file: string) => !/node_modules|\/built\/|\/schema\.ts$/.test(file)

test.each(Object.entries(languages))('no comment leaves its subject out: %s', (pattern, begins) => {
  const files = globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] }).filter(isWritten)
  expect(files.length).toBeGreaterThan(50)
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (begins.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  )
  expect(found).toEqual([])
})
