// docs/abuse.md: every abuse has a test that exists, and the document says which.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { abuse } from './abuse/generate.ts'
import { sections } from './abuse/rows.ts'
import { isTest } from './conformance/cited.ts'
import { citationsOf } from './conformance/table.ts'

const rows = Object.values(sections).flat()

test('there are rows, each of an abuse of its own', () => {
  expect(rows.length).toBeGreaterThan(40)
  expect(new Set(rows.map(({ tried }) => tried)).size).toBe(rows.length)
})

test.each(rows)('$tried: the tests that are cited are there, at least one', (row) => {
  const cited = citationsOf(row)
  expect(cited).not.toHaveLength(0)
  expect(cited.filter(({ file, title }) => !isTest(file, title))).toEqual([])
})

test('docs/abuse.md is what `npx node test/abuse/generate.ts` writes', () => {
  const committed = readFileSync(join(import.meta.dirname, '..', 'docs', 'abuse.md'), 'utf8')
  expect(committed).toBe(abuse())
})
