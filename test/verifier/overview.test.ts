// Outliers among many pieces of evidence: an approved amount far above the usual amounts before it.
import { expect, test } from 'vitest'
import type { ActionText } from '../../src/formats/artifacts/account-text.ts'
import type { Account } from '../../src/formats/verifier/account.ts'
import { gather, LARGEST_MAX, ROWS_MAX } from '../../src/formats/verifier/overview.ts'
import {
  exceptionsLeftText,
  exceptionTables,
  restTables,
} from '../../src/formats/verifier/overview-tables.ts'

const DONE = 'Done, as the connector reported'

function overviewOf(actions: readonly Partial<ActionText>[], approvers: readonly string[] = ['dana']) {
  const gathering = gather()
  for (const [i, action] of actions.entries())
    gathering.add({
      file: 'records.ndjson',
      line: i + 1,
      report: { artifact: 'trust-record', subject: `r${i + 1}`, verdict: 'valid', checks: [], notes: [] },
      account: {
        said: [],
        approvers,
        approvals: approvers.map((name) => `${name} with key k1 at 2026-11-02T10:00:00Z`),
        action: { name: 'vendor:pay', target: 'vendor-1', ending: DONE, at: '', currency: 'EUR', ...action },
      },
    })
  return gathering.overview()
}

const unusual = (actions: readonly Partial<ActionText>[]) =>
  overviewOf(actions).aboveUsual.map(({ line, usual }) => [line, usual])

test('above three times the median of what came before on the target, in the same currency', () => {
  const before = [10, 20, 30, 1_000].map((amount) => ({ amount }))
  expect(unusual([...before, { amount: 75 }])).toEqual([[4, 20]])
  expect(unusual([...before, { amount: 75.01 }])).toEqual([
    [4, 20],
    [5, 25],
  ])
  expect(unusual([...before.slice(0, 3), { amount: 60 }])).toEqual([])
})

test('other targets, actions and currencies say nothing, nor do fewer than three before', () => {
  const before = [10, 10, 10].map((amount) => ({ amount }))
  for (const other of [{ target: 'vendor-2' }, { name: 'vendor:refund' }, { currency: 'JPY' }])
    expect(unusual([...before, { amount: 900, ...other }])).toEqual([])
  expect(unusual([...before.slice(0, 2), { amount: 900 }])).toEqual([])
})

test('what was refused was not approved, and does not become usual', () => {
  const refused = { amount: 900, ending: 'Refused' } as const
  const before = [10, 10, 10].map((amount) => ({ amount }))
  expect(unusual([...before, refused, refused, refused, { amount: 31, ending: 'Not done' }])).toEqual([
    [7, 10],
  ])
})

test('what nobody approved, and a number without a currency, is not listed as approved', () => {
  const actions = [10, 10, 10, 44].map((amount) => ({ amount }))
  expect(overviewOf(actions, []).aboveUsual).toEqual([])
  expect(overviewOf(actions.map((one) => ({ ...one, currency: '' }))).aboveUsual).toEqual([])
})

test('the largest, and what humans approved, is listed behind the rows that the list has room for', () => {
  const many = Array.from({ length: ROWS_MAX }, () => ({ amount: 1 }))
  const unapproved = overviewOf([...many, { amount: 900 }, { amount: 5, currency: 'JPY' }], [])
  expect(unapproved.executions).toHaveLength(ROWS_MAX)
  expect(unapproved.largest.filter(({ line }) => (line ?? 0) > ROWS_MAX).map(({ line }) => line)).toEqual([
    ROWS_MAX + 1,
    ROWS_MAX + 2,
  ])
  expect(unapproved.largest).toHaveLength(LARGEST_MAX + 1)
  const [, approved] = restTables(overviewOf([{ amount: 900 }]))
  expect([approved?.caption, approved?.rows[0]?.[7]]).toEqual([
    'Approved by humans',
    'dana with key k1 at 2026-11-02T10:00:00Z',
  ])
  expect(overviewOf(many).approvedLeft).toBe(0)
  expect(overviewOf([...many, { amount: 2 }]).approvedLeft).toBe(1)
})

test('a list of exceptions that has no room for all says how many more there are', () => {
  const failed = Array.from({ length: ROWS_MAX + 2 }, () => ({ ending: 'Not done' as const }))
  const [notDone] = exceptionTables(overviewOf(failed, []))
  expect(notDone?.rows).toHaveLength(ROWS_MAX)
  expect(notDone?.note).toBe(
    'These are the first 1000 in the order of the files; 2 executions more: in the totals and not listed.',
  )
  expect(exceptionTables(overviewOf(failed.slice(2), []))[0]?.note).toBeUndefined()

  const gathering = gather()
  for (let line = 1; line <= ROWS_MAX + 1; line++)
    for (const verdict of ['invalid', 'unchecked'] as const)
      gathering.add({
        file: 'records.ndjson',
        line,
        report: { artifact: 'trust-record', subject: `r${line}`, verdict, checks: [], notes: [] },
        account: undefined,
      })
  expect(exceptionsLeftText(gathering.overview())).toEqual([
    '1 piece more: invalid, counted above and not listed.',
    '1 piece more: could not all be checked, counted above and not listed.',
  ])
})

test('the table says how many times the usual amount it was', () => {
  const [table] = exceptionTables(overviewOf([10, 10, 10, 44].map((amount) => ({ amount }))))
  expect(table).toMatchObject({
    caption: 'Approved above usual',
    rows: [
      [
        '',
        'vendor:pay',
        'vendor-1',
        '44 EUR',
        '',
        '10 EUR',
        '4.4',
        '',
        '',
        'dana',
        'r4 in records.ndjson, line 4',
      ],
    ],
  })
})

const execution = (id: string, ending: ActionText['ending']) => ({
  execution: id,
  action: { name: 'vendor:pay', target: 'vendor-1', ending, at: '', amount: 5, currency: 'EUR' },
})
const says = (id: string, word: string, differing: readonly string[] = []) => ({
  execution: id,
  words: [{ confirmationId: `c-${id}`, provider: 'bank', says: word, at: '', differing }],
})
const contradicted = (accounts: readonly Partial<Account>[]) => {
  const gathering = gather()
  for (const account of accounts)
    gathering.add({
      file: 'f',
      line: undefined,
      report: { artifact: 'trust-record', subject: 's', verdict: 'valid', checks: [], notes: [] },
      account: { said: [], approvers: [], approvals: [], ...account },
    })
  return gathering.overview().contradicted.map((one) => [one.execution, one.ended])
}

test('a provider contradicts an execution by its word or by what it compares, in whichever order both come', () => {
  const accounts = [
    says('a', 'executed'),
    says('b', 'not_executed'),
    says('c', 'executed'),
    says('d', 'pending'),
    says('e', 'not_executed'),
    says('f', 'executed', ['payload.amount == 5']),
    says('g', 'executed'),
    execution('a', DONE),
    execution('b', DONE),
    execution('c', 'Not done'),
    execution('d', 'Refused'),
    execution('e', 'Refused'),
    { execution: 'g', closedAs: 'NOT_EXECUTED' },
  ]
  const found = [
    ['b', DONE],
    ['c', 'Not done'],
    ['d', 'Refused'],
    ['f', ''],
    ['g', 'closed as not executed'],
  ]
  expect(contradicted(accounts)).toEqual(found)
  expect(contradicted(accounts.toReversed()).toReversed()).toEqual(found)
})

test('currencies stand in one order', () => {
  const { totals, largest } = overviewOf(
    ['USD', 'EUR', ...Array.from({ length: ROWS_MAX }, () => 'GBP')].map((currency) => ({
      amount: 1,
      currency,
    })),
  )
  expect(totals[0]?.amounts).toEqual(['1 EUR', '1,000 GBP', '1 USD'])
  expect(
    largest.map(({ account }) => account?.action?.currency).filter((one, i, all) => one !== all[i - 1]),
  ).toEqual(['EUR', 'GBP', 'USD'])
})
