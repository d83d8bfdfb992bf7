// APPROVAL_REQUESTS_PER_HOUR: how many approval requests a caller may open, on all instances together and whatever became of them.
import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { aHuman, anApprover, enrolled } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { scrape } from '../metrics/scrape.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const PER_HOUR = 4
const maker = aHuman('maker', { approverId: 'alice' })
const checker = aHuman('checker', { approverId: 'bob' })
const bots = ['withdrawing', 'all-at-once', 'other'].map((callerId) =>
  aCaller(callerId, { allowedPrincipalIds: ['tester'] }),
)
const [withdrawing, atOnce, other] = bots as [(typeof bots)[0], (typeof bots)[0], (typeof bots)[0]]
const alice = anApprover('alice')
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-one',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})

let database: TestDatabase
let instances: readonly [TestService, TestService]

withDatabase(async ({ database: made, start }) => {
  database = made
  const options = {
    callers: [maker, checker, ...bots].map(({ entry }) => entry),
    env: { POLICY_DIR: policyDir, APPROVAL_REQUESTS_PER_HOUR: String(PER_HOUR), METRICS_PORT: '0' },
  }
  const first = await start(options)
  instances = [first, await start({ ...options, signingKeyDir: first.signingKeyDir, key: first.key })]
  await enrolled(first, { maker, checker }, alice)
})

let asked = 0
const ask = ({ key }: { key: string }, note: string) =>
  instances[asked++ % 2]!.post(
    '/approval-requests',
    { transaction: aTransaction({ policy: { name: 'by-one' } }), note },
    { key },
  )

// proves abuse: An agent opens and withdraws requests in a loop
test('requests that were withdrawn or declined count, on every instance; the same one again does not', async () => {
  const opened: ApprovalRequest[] = []
  for (let n = 0; n < PER_HOUR; n++) {
    const { status, body, text } = await ask(withdrawing, `note ${n}`)
    expect(status, text).toBe(201)
    opened.push(body as ApprovalRequest)
    if (n === 0) expect((await instances[0].post(`${body.url}/withdraw`, {}, withdrawing)).status).toBe(200)
    if (n === 1)
      expect((await instances[1].post(`${body.url}/decline`, { reason: 'No.' }, maker)).status).toBe(200)
  }
  for (let n = 0; n < 2; n++) {
    const { status, body, headers } = await ask(withdrawing, 'one more')
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED'])
    const seconds = Number(headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(3_500)
    expect(seconds).toBeLessThanOrEqual(3_600)
  }
  expect((await ask(withdrawing, 'note 3')).status).toBe(200)
  expect((await ask(other, 'one more')).status).toBe(201)

  // The first one leaves the hour in a minute, then has left it.
  const age = (by: string) =>
    database.pool.query(
      `UPDATE approval_requests SET created_at = now() - $2::interval WHERE request_id = $1`,
      [opened[0]!.request.requestId, by],
    )
  await age('59 minutes')
  const soon = await ask(withdrawing, 'one more')
  expect([soon.status, Math.ceil(Number(soon.headers.get('retry-after')) / 60)]).toEqual([429, 1])
  await age('61 minutes')
  expect((await ask(withdrawing, 'one more')).status).toBe(201)
  expect((await ask(withdrawing, 'one too many')).status).toBe(429)
})

test('requests that are opened at once are counted one after the other', async () => {
  const replies = await Promise.all(Array.from({ length: 4 * PER_HOUR }, (_, n) => ask(atOnce, `note ${n}`)))
  const counted = Map.groupBy(replies, ({ status }) => status)
  expect([counted.get(201)?.length, counted.get(429)?.length]).toEqual([PER_HOUR, 3 * PER_HOUR])
})

test('a request too many is counted as this limit, not as the one of its route', async () => {
  const samples = (await Promise.all(instances.map(scrape))).flat()
  const refused = samples.filter(
    ({ name, value }) => name === 'countersign_rate_limit_refusals_total' && value > 0,
  )
  expect(new Set(refused.map(({ labels }) => labels['limit']))).toEqual(new Set(['approval requests']))
})
