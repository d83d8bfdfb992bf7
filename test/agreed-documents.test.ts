// The contract that the code cites is the one that was agreed, where the agreed documents are beside this checkout.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const AGREED = join(ROOT, '..', 'shared', 'spec')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

test.for(['interface.md', 'decisions.md'])('%s is the one that was agreed on', (name, { skip }) => {
  const mayBeAbsent = process.env['CI'] !== 'true'
  skip(mayBeAbsent && !existsSync(AGREED), 'the agreed documents are not beside this checkout')
  expect(read(ROOT, 'docs', name)).toBe(read(AGREED, name))
})
