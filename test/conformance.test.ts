// docs/conformance.md: every statement of interface §4 to §8 has a test that exists, and the document says which.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isTest } from './conformance/cited.ts'
import { conformance } from './conformance/generate.ts'
import { later, proofs } from './conformance/proofs.ts'
import { interfaceRows, rowsOf } from './conformance/rows.ts'

const ids = interfaceRows().map(({ id }) => id)

describe('the rows', () => {
  test('are all that the five sections say, each with an id of its own', () => {
    expect(ids).toHaveLength(108)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('are the rows of tables, the items of lists and the paragraphs, and nothing that only leads to them', () => {
    const text = `## 3. No\n\nnot this\n\n## 4. Yes\n\n### 4.1 Routes\n\n| A | B |\n|---|---|\n| GET /a \`x\` | | \n\n**POST /b**\n
- One: two.\n  - Below\n\n## 7. Errors\n\nEnvelope:\n\n1. First\n\nA paragraph.\n\n### More\n\n- Item\n\n## 9. No\n\nnor this`
    expect(rowsOf(text)).toEqual([
      { id: '4.1/get-a-x', section: '4.1', text: 'GET /a `x`' },
      { id: '4.1/post-b-one-two', section: '4.1', text: 'POST /b: One: two.' },
      { id: '4.1/post-b-below', section: '4.1', text: 'POST /b: Below' },
      { id: '7/first', section: '7', text: 'First' },
      { id: '7/a-paragraph', section: '7', text: 'A paragraph.' },
      { id: '7-more/item', section: '7 More', text: 'Item' },
    ])
  })
})

test('every row is proven or said to come later', () => {
  expect(ids.filter((id) => !(id in proofs) && !(id in later))).toEqual([])
})

test('every proof and every delay is of a row', () => {
  expect([...Object.keys(proofs), ...Object.keys(later)].filter((id) => !ids.includes(id))).toEqual([])
})

describe('the tests that are cited', () => {
  test.each(Object.entries(proofs))('%s: are there, at least one', (_id, proof) => {
    const cited = Object.entries(proof).flatMap(([file, titles]) => titles.map((title) => ({ file, title })))
    expect(cited).not.toHaveLength(0)
    expect(cited.filter(({ file, title }) => !isTest(file, title))).toEqual([])
  })

  test('a title that is not there, or stands in another describe, is noticed', () => {
    const [file, describes] = ['http/system', 'GET / 200']
    expect(isTest(file, `${describes} › names the service`)).toBe(true)
    expect(isTest(file, `${describes} › is UP, without a key`)).toBe(false)
    expect(isTest(file, 'names the servic')).toBe(false)
    expect(isTest('http/no-such-file', 'names the service')).toBe(false)
    const table = '403 stepUpInvalid › one that is %s'
    expect(isTest('http/governance', `${table} | expired`)).toBe(true)
    expect(isTest('http/governance', `${table} | status=%s`)).toBe(false)
  })
})

test('docs/conformance.md is what `npx node test/conformance/generate.ts` writes', () => {
  const committed = readFileSync(join(import.meta.dirname, '..', 'docs', 'conformance.md'), 'utf8')
  expect(committed).toBe(conformance())
})
