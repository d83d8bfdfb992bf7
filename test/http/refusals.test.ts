// GET /refusals: what was not executed, newest first.
import { expect, describe, test } from 'vitest'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const auditor = aCaller('auditor', { readAll: true })
const other = aCaller('other', { allowedPrincipalIds: ['tester'] })

let service: TestService
withService((made) => ({ service } = made), {
  callers: [auditor.entry, other.entry],
  addPolicies: () => undefined,
})

/** @returns the id of a transaction that the policy rejects */
async function refused(key = service.key): Promise<string> {
  const transaction = aTransaction({ signals: { approved: false } })
  const { status } = await service.post('/execute', transaction, { key })
  expect(status).toBe(500)
  return transaction.businessTransactionId
}

const idsOf = (body: { refusals: { businessTransactionId: string }[] }) =>
  body.refusals.map(({ businessTransactionId }) => businessTransactionId)

describe('GET /refusals 200', () => {
  test('answers the signed records as GET /refusal/{id} does, newest first, page by page', async () => {
    const [first, second] = [await refused(), await refused()]
    const { body, status, headers } = await service.get('/refusals?pageSize=1')
    expect(status).toBe(200)
    expect(idsOf(body)).toEqual([second])
    expect(body.refusals[0]).toEqual((await service.get(`/refusal/${second}`)).body)
    const [, next] = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '') ?? []
    expect(idsOf((await service.get(next!)).body)).toEqual([first])
  })

  test("shows callers their own, and an auditor everybody's", async () => {
    const theirs = await refused(other.key)
    expect(idsOf((await service.get('/refusals')).body)).not.toContain(theirs)
    expect(idsOf((await service.get('/refusals', other)).body)).toEqual([theirs])
    expect(idsOf((await service.get('/refusals?pageSize=100', auditor)).body)).toContain(theirs)
  })

  test('as NDJSON answers the whole range, a refusal a line, and a last line that counts them', async () => {
    await refused(other.key)
    const headers = { Accept: 'application/x-ndjson' }
    for (const [caller, callerId] of [
      [auditor, null],
      [other, 'other'],
    ] as const) {
      const { body } = await service.get('/refusals?pageSize=100', caller)
      const { text, headers: answered } = await service.get('/refusals', { key: caller.key, headers })
      expect(answered.get('Content-Type')).toBe('application/x-ndjson; charset=utf-8')
      const count = body.refusals.length
      expect(
        text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual([
        ...body.refusals,
        { exportEnd: { kind: 'refusal-record', callerId, count, since: null, until: null } },
      ])
    }
  })

  test('takes a time range', async () => {
    await refused()
    const { refusals } = (await service.get('/refusals')).body as { refusals: { createdAt: string }[] }
    const newest = refusals[0]!.createdAt
    expect(idsOf((await service.get(`/refusals?until=${newest}`)).body)).toHaveLength(refusals.length - 1)
    expect(idsOf((await service.get('/refusals?since=2099-01-01T00:00:00Z')).body)).toEqual([])
  })
})

test('a query that cannot be read names its parameter', async () => {
  expect((await service.get('/refusals?since=yesterday')).body.error).toContain('since')
  expect((await service.get('/refusals?pageSize=0')).body.error).toContain('pageSize')
  expect((await service.get('/refusals?page=0')).body.error).toContain('page')
})
