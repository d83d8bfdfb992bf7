// docs/fault-matrix.md: every fault has a test that exists, and the document says which.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isTest } from './conformance/cited.ts'
import { citationsOf } from './conformance/table.ts'
import { faultMatrix } from './faults/generate.ts'
import { sections } from './faults/rows.ts'

const rows = Object.values(sections).flat()

test('there are rows, each of a fault of its own', () => {
  expect(rows.length).toBeGreaterThan(30)
  expect(new Set(rows.map(({ fault }) => fault)).size).toBe(rows.length)
})

test.each(rows)('$fault: the tests that are cited are there, at least one', (row) => {
  const cited = citationsOf(row)
  expect(cited).not.toHaveLength(0)
  expect(cited.filter(({ file, title }) => !isTest(file, title))).toEqual([])
})

test('docs/fault-matrix.md is what `npx node test/faults/generate.ts` writes', () => {
  const committed = readFileSync(join(import.meta.dirname, '..', 'docs', 'fault-matrix.md'), 'utf8')
  expect(committed).toBe(faultMatrix())
})
