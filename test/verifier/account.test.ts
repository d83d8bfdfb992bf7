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

test('the reasons that approvers signed stand after their names; a reason that is no text is none', () => {
  const alice = { approverId: 'alice', reason: 'Matches the invoice.' }
  expect(reasonsIn([alice, { approverId: 'bob' }, { approverId: 'carol', reason: 'Due.' }])).toBe(
    'alice: Matches the invoice.; carol: Due.',
  )
  expect(reasonsIn([{ approverId: 'bob', reason: { text: 'Due.' } }])).toBeUndefined()
})

function reasonsIn(payloads: readonly object[]): string | undefined {
  const approvals = payloads.map((payload) => ({ payload }))
  const executions = [{ decision: { verifiedSignals: { approved: { by: 'approval', approvals } } } }]
  const [account] = accountsOf(JSON.stringify({ trustRecordId: 'r', executions }))
  return Object.fromEntries(account?.said ?? [])['Reasons given']
}

test('a caller by token is shown with the issuer, the subject and who used the token', () => {
  const payload = {
    callerAuthentication: {
      method: 'jwt-svid',
      issuer: 'spiffe://example.org',
      subject: 'spiffe://example.org/billing',
      actor: 'mesh',
    },
  }
  expect(authenticatedBy({ payload })).toBe(
    'JWT-SVID of spiffe://example.org for spiffe://example.org/billing, used by mesh',
  )
  expect(authenticatedBy({ payload: { callerId: 'agent-7' } })).toBeUndefined()
  expect(authenticatedBy({ payload: null })).toBeUndefined()
})

function authenticatedBy(authorization: object): string | undefined {
  const [account] = accountsOf(JSON.stringify({ trustRecordId: 'r', authorization }))
  return Object.fromEntries(account?.said ?? [])['Authenticated by']
}

const endingOf = (members: object) =>
  accountsOf(JSON.stringify({ refusalRecordId: 'r1', ...members }))[0]?.action?.ending

test('a refusal that an approval would lift is told from one that is final', () => {
  expect(endingOf({ approvable: true })).toBe('Refused until humans approve')
  expect(endingOf({})).toBe('Refused')
})
