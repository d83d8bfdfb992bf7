// docs/handbook/policy-language.md: its commands run and print what is shown, and its conditions are what they are said to be.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { evaluate } from '../../src/core/policy/evaluate.ts'
import { blocks, chapters, forHere } from '../handbook.ts'
import { aRule, aSubject, refusalOf } from './builders.ts'

const CHAPTER = 'policy-language.md'
let folder: string
let printed: string[]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-language-'))
  printed = blocks(CHAPTER, 'sh').map((script) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', forHere(script, '')], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect([status, stderr.replaceAll(/^warning: .*\n/gm, '')]).toEqual([0, ''])
    return stdout
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

test('check, test and explain print what the chapter says', () => {
  const [checked, tested, explained] = printed
  expect(checked).toContain('order-refund 1.0.0: 5 rules, 3 signals, no mistake')
  expect(tested).toBe('order-refund 1.0.0: 8 cases hold; 5 of 5 rules decide a case\n')
  expect([explained]).toEqual(blocks(CHAPTER, 'text'))
})

/** The chapter's policy with one rule. */
function withRule(when: string): Record<string, unknown> {
  const text = readFileSync(join(folder, 'mine/order-refund/1.0.0/policy.yaml'), 'utf8')
  return { ...(parse(text) as Record<string, unknown>), rules: [aRule({ when })] }
}

test.each(blocks(CHAPTER, 'cel').flatMap((block) => block.trim().split('\n')))(
  'it is true that %s',
  (when) => {
    const { policy } = compilePolicy(withRule(when), CHAPTER)
    const [parameters = ''] = blocks(CHAPTER, 'json')
    const intent = {
      action: 'orders:refund',
      target: 'order-88',
      parameters: JSON.parse(parameters) as Record<string, unknown>,
      createdAt: '2026-03-02T09:30:00Z',
    }
    const subject = aSubject({
      intent,
      signals: { amount: 900, orderPaid: true, humanApproved: true },
    })
    expect(evaluate(policy, subject, new Date('2026-03-02T10:00:00Z'))).toMatchObject({ kind: 'approved' })
  },
)

const [, section = ''] = (chapters.get(CHAPTER) ?? '').split('## What is refused\n')
const refused = Array.from(
  (section.split('\n## ')[0] ?? '').matchAll(/^\| `(.*)` \| (.*) \|$/gm),
  ([, when = '', sentence = '']): [string, string] => [when, sentence],
)

test('the chapter says what is refused', () => expect(refused.length).toBeGreaterThan(10))

test.each(refused)('%s is refused: %s', (when, sentence) => {
  expect(refusalOf(withRule(when))).toEqual([expect.stringContaining(sentence)])
})
