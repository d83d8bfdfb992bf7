// One client tries to stop the others, with real load from a process of its own, against a service with the default limits. What its
// neighbour sees is compared with what it saw a moment before, when nobody attacked: on a busy machine both are slow.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { aCaller, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { attackWith, executions } from './attack.ts'
import type { Attack } from './attacker.ts'
import { withService } from '../with-service.ts'

const PROVIDER = 'acme'
const SECRET = 'a-secret-of-many-characters'
/** The defaults, which test/service.ts raises for other tests. */
const DEFAULTS = {
  RATE_LIMIT_EXECUTE_PER_MINUTE: '600',
  RATE_LIMIT_HEALTH_PER_MINUTE: '1200',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '1200',
  RATE_LIMIT_COMPUTE_MS_PER_MINUTE: '6000',
}

/** Executions of the neighbour in each phase. */
const SAMPLES = 50
/** How much slower the slowest tenth may be while somebody attacks. */
const SLOWER_MAX = 3
/** One phase in which the machine itself stood still proves nothing: the best of so many counts. */
const ROUNDS = 4

/** One for each of six tests, and for each that is run once more (`retry` in vitest.config.ts): they send at most their limit. */
const victims = Array.from({ length: 12 }, (_, i) =>
  aCaller(`victim-${i}`, { allowedPrincipalIds: ['victim'] }),
)
const attacker = aCaller('attacker', { allowedCapabilities: [] })
const capable = aCaller('capable')
/** Has a limit of its own to spend. */
const withholding = aCaller('withholding')
const human = aCaller('human', { credentialHolderType: 'USER' })

const webhookDir = mkdtempSync(join(tmpdir(), 'countersign-test-rules-'))
/** Each walks a list of the payload twice, fails at every step and hides it: together they take all the steps that a delivery may. */
const heavyRules = Array.from({ length: 50 }, (_, i) => ({
  id: `r${i}`,
  when: `(payload.items.exists(x, x.a == 1.0 || x.b == 1.0) || payload.items.all(x, x.c == 1.0)) && payload.event == '${i}'`,
  transaction: 'payload.id',
  says: 'executed',
}))
// JSON is YAML.
writeFileSync(join(webhookDir, `${PROVIDER}.yaml`), JSON.stringify({ provider: PROVIDER, rules: heavyRules }))

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [...victims, attacker, capable, withholding, human].map(({ entry }) => entry),
  env: { ...DEFAULTS, WEBHOOK_DIR: webhookDir, [`${PROVIDER.toUpperCase()}_WEBHOOK_SECRET`]: SECRET },
})

afterAll(() => {
  rmSync(webhookDir, { recursive: true })
})

const bearer = (key: string) => [`Authorization: Bearer ${key}`, 'Content-Type: application/json']

/** A transaction of 96 KB, most of it signals that are none. */
function heavyBody(): string {
  const signals = Object.fromEntries(Array.from({ length: 7_600 }, (_, i) => [`s${i}`, 'x']))
  return JSON.stringify({ ...aTransaction(), signals })
}

/** Nine tenths are faster. */
const slowOf = (times: readonly number[]) => times[Math.floor(times.length * 0.9)] ?? Infinity

/** Every execution beside the attack succeeds, and in one of a few rounds they are about as fast as without it. */
async function expectUnharmed(attack: Omit<Attack, 'port'>): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {}
  const ratios: number[] = []
  const victim = victims.shift()
  if (victim === undefined) throw new Error('more tests than victims')
  await executions(service, victim, SAMPLES)
  while (ratios.length < ROUNDS && !ratios.some((ratio) => ratio <= SLOWER_MAX)) {
    const quiet = slowOf(await executions(service, victim, SAMPLES))
    const stop = await attackWith(service, attack)
    const attacked = slowOf(await executions(service, victim, SAMPLES))
    await until(
      async () => (await service.get('/ready')).status === 200,
      'an instance that is ready during the attack',
    )
    for (const [status, count] of Object.entries(await stop()))
      statuses[status] = (statuses[status] ?? 0) + count
    ratios.push(attacked / quiet)
  }
  expect(
    Math.min(...ratios),
    `slower by ${ratios.map((ratio) => ratio.toFixed(1)).join(', ')}`,
  ).toBeLessThanOrEqual(SLOWER_MAX)
  return statuses
}

describe('executions of others go on while', () => {
  // proves abuse: Four connections of a key
  test('a key without capabilities has 96 KB bodies evaluated over four connections', async () => {
    const statuses = await expectUnharmed({
      connections: 4,
      requests: [{ path: '/sandbox/evaluate', headers: bearer(attacker.key), body: heavyBody() }],
    })
    expect(statuses['200']).toBeGreaterThan(0)
  })

  // proves abuse: Sixteen connections of one address
  test('an address without a key has 96 KB bodies verified over sixteen connections', async () => {
    const statuses = await expectUnharmed({
      connections: 16,
      requests: [{ path: '/refusal/verify', headers: ['Content-Type: application/json'], body: heavyBody() }],
    })
    expect((statuses['200'] ?? 0) + (statuses['429'] ?? 0)).toBeGreaterThan(0)
  })

  // proves abuse: 4,096 connections announce a one-byte
  test.each([
    ['/execute', () => bearer(withholding.key)],
    [`/webhooks/${PROVIDER}`, () => [`X-Acme-Signature: ${'a'.repeat(64)}`]],
  ])('4,096 connections announce a body to %s and never send it', async (path, headers) => {
    const statuses = await expectUnharmed({
      connections: 4_096,
      withhold: true,
      requests: [{ path, headers: headers(), body: 'x' }],
    })
    expect(statuses['503'] ?? statuses['429']).toBeGreaterThan(0)
  })

  // proves abuse: Executions of 96 KB of one
  test('a caller sends executions of 96 KB within its limit over eight connections', async () => {
    const statuses = await expectUnharmed({
      connections: 8,
      requests: [{ path: '/execute', headers: bearer(capable.key), body: heavyBody() }],
    })
    expect(statuses['400']).toBeGreaterThan(0)
  })
})

/** One that takes milliseconds to compile. */
function aLongRule(i: number) {
  return {
    id: `r${i}`,
    when: Array.from({ length: 30 }, (_, j) => `signals.amount != ${i * 100 + j}.5`).join(' && '),
    outcome: 'reject',
    reason: 'No.',
  }
}

// proves abuse: 210 simulations of one caller
test("a human's change is answered before the 210 simulations of one caller that wait already", async () => {
  const policy = {
    policyId: 'sandbox-echo',
    policyVersion: '9.0.0',
    schemaVersion: '1.0.0',
    description: 'Long.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean', amount: 'number' },
    rules: Array.from({ length: 60 }, (_, i) => aLongRule(i)),
  }
  let answered = 0
  const simulations = Array.from({ length: 210 }, async () => {
    const { status } = await service.post('/sandbox/policies/simulate', { policy }, capable)
    answered++
    return status
  })
  const proposed = await service.post('/approvers/changes', { action: 'revoke' }, human)
  expect(proposed.status).toBe(400)
  expect(answered).toBeLessThan(105)
  const statuses = new Set(await Promise.all(simulations))
  // Requests that its budget does not pay for are refused; nobody waits for them.
  expect([...statuses].filter((status) => ![200, 400, 429].includes(status))).toEqual([])
})

// The last one: what it has delivered is processed for a while.
// proves abuse: A payload against the rules
test('executions of others go on while a provider sends deliveries that cost the rules all that they may', async () => {
  const items = Array.from({ length: 499 }, () => ({}))
  const statuses = await expectUnharmed({
    // Each address has a budget of computation, and the tests before may have spent that of 127.0.0.1.
    from: '127.0.0.2',
    connections: 4,
    signs: { header: 'Acme', secret: SECRET },
    requests: [{ path: `/webhooks/${PROVIDER}`, headers: [], body: JSON.stringify({ id: '%', items }) }],
  })
  expect(statuses['200']).toBeGreaterThan(0)
  await until(async () => {
    const { rows } = await database.pool.query('SELECT FROM webhook_events WHERE outcome = $1 LIMIT 1', [
      'rule-failed',
    ])
    return rows.length > 0
  }, 'a delivery that took too many steps')
})
