// Evidence has an account in words, beside the verdict.
import { expect, test } from 'vitest'
import { accountsOf } from '../../src/formats/verifier/account.ts'

const approval = (approverId: string) => ({ payload: { approverId } })

test('each approver is named once and whole, and a name that would not fit a page is cut', () => {
  const approvals = ['alice@example', 'bob@example', 'alice@example', 'x'.repeat(201)].map(approval)
  const record = {
    trustRecordId: 'r',
    executions: [{ decision: { verifiedSignals: { approved: { by: 'approval', approvals } } } }],
  }
  const [account] = accountsOf(JSON.stringify(record))
  expect(account?.approvers).toEqual(['alice@example', 'bob@example', `${'x'.repeat(200)}…`])
  expect(Object.fromEntries(account?.said ?? [])['Approved by']).toMatch(/^alice@example, bob@example, x/)
})
