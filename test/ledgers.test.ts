// The ledgers: every statement of interface §4 to §8, every fault and every abuse has a test that declares it, and the documents say which.
import { describe, expect, test } from 'vitest'
import { declarationsIn } from './ledgers/declared.ts'
import { declarations, documents, rows, rowsOf, testsOf } from './ledgers/generate.ts'
import { interfaceRows, readDocument, tableRows } from './ledgers/rows.ts'

describe('the rows', () => {
  test('are all that the five sections say, and all faults and abuses, each once', () => {
    const sizes = Map.groupBy(rows, ({ section }) => (section.startsWith('§') ? 'interface' : section))
    expect(sizes.get('interface')).toHaveLength(108)
    expect(sizes.get('fault')?.length).toBeGreaterThanOrEqual(71)
    expect(sizes.get('abuse')?.length).toBeGreaterThanOrEqual(64)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  })

  test('of the interface are the rows of tables, the items of lists and the paragraphs, and nothing that only leads to them', () => {
    const text = `## 3. No\n\nnot this\n\n## 4. Yes\n\n### 4.1 Routes\n\n| A | B |\n|---|---|\n| GET /a \`x\` | | \n\n**POST /b**\n
- One: two.\n  - Below\n\n## 7. Errors\n\nEnvelope:\n\n1. First\n\nA paragraph.\n\n### More\n\n- Item\n\n## 9. No\n\nnor this`
    expect(interfaceRows(text).map(({ name }) => name)).toEqual([
      '§4.1 GET /a `x`',
      '§4.1 POST /b: One: two.',
      '§4.1 POST /b: Below',
      '§7 First',
      '§7 A paragraph.',
      '§7 More Item',
    ])
  })

  test('of a table are all below its head, with a last cell or without', () => {
    const text =
      '| Tried | Refused | By test |\n|---|---|---|\n| one | no | `a` › b \\| c |\n| two | no | |\n\ntext'
    expect(tableRows('abuse', text).map(({ name }) => name)).toEqual(['abuse: one', 'abuse: two'])
  })
})

test('every row is declared by a test', () => {
  expect(rows.filter(({ name }) => !testsOf.has(name))).toEqual([])
})

test('every declaration is the beginning of one row and of no other', () => {
  expect(declarations.filter((declaration) => rowsOf(declaration).length !== 1)).toEqual([])
})

describe('a declaration', () => {
  // With # for //, as this file declares nothing.
  const source = `
describe.each([
  # proves §1 a
  ['x', 1],
])('a %s', () => {
  # proves §1 b; fault: c
  # proves abuse: d
  test("it's", () => {})

  describe('inner', () => {
    test.each([[f('no'), 1]])(
      'broken %i',
      () => {})
  })

  # proves §1 e
  test('last', () => {})
})`.replaceAll('#', '//')

  test('is of the test or case below it, within the describes around that', () => {
    expect(declarationsIn('f', source).map(({ title, row }) => `${title} = ${row}`)).toEqual([
      'a %s: x = §1 a',
      "a %s › it's = §1 b",
      "a %s › it's = fault: c",
      "a %s › it's = abuse: d",
      'a %s › last = §1 e',
    ])
  })

  test.each(['const a = 1', "expect('a').toBe('a')"])('above %j, which is no test, is an error', (line) => {
    const inside = `test('a', () => {\n  // proves §1 a\n  ${line}\n})`
    expect(() => declarationsIn('f', inside)).toThrow('test/f: no test and no case follows "// proves §1 a"')
  })
})

test.each(Object.entries(documents()))('docs/%s is what `npm run ledgers` writes', (name, text) => {
  expect(readDocument(name)).toBe(text)
})
