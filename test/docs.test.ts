// The documents: the contract that the code cites is the one that was agreed, and the README tells no other story than the code.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Environment } from '../src/config.ts'

const ROOT = join(import.meta.dirname, '..')
const AGREED = join(ROOT, '..', 'shared', 'spec')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

test.for(['interface.md', 'decisions.md'])('%s is the one that was agreed on', (name, { skip }) => {
  skip(!existsSync(AGREED), 'the agreed documents are not beside this checkout')
  expect(read(ROOT, 'docs', name)).toBe(read(AGREED, name))
})

test("the README's configuration table names every variable that is read, and no other", () => {
  const [, table = ''] = /\n## Configuration\n[^]*?\n(\|[^]*?)\n\n/.exec(read(ROOT, 'README.md')) ?? []
  const [, , ...rows] = table.split('\n')
  const named = rows.flatMap((row) => row.split('|')[1]?.match(/(?<=`)[A-Z_]+(?=`)/g) ?? [])
  expect(named.toSorted()).toEqual(Object.keys(Environment.properties).toSorted())
})

const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

test.each(pages)('every relative link of %s leads to a file', (page) => {
  const links = Array.from(read(ROOT, page).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
  const relative = links.filter((link) => !/^(\w+:|#)/.test(link)).map((link) => link.replace(/#.*/, ''))
  expect(relative.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([])
})
