// A database that is there and refuses evidence: after the first execution that it happens to, none is admitted until a store succeeds
// (docs/design-notes.md "A database that refuses evidence").
import { afterEach, describe, expect, test } from 'vitest'
import { type TestDatabase } from '../database.ts'
import { reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'
import { intentState } from '../intents.ts'

const REFUSED = {
  status: 503,
  body: { error: 'The database refuses to store evidence. Nothing was executed.', code: 'EVIDENCE_REFUSED' },
}

let database: TestDatabase
let service: TestService
withService((made) => ({ database, service } = made), { env: { WORKER_THREADS: '2', METRICS_PORT: '0' } })
afterEach(async () => {
  await database.pool.query('ALTER TABLE IF EXISTS receipts_away RENAME TO receipts')
})

async function refusedMetric(): Promise<string | undefined> {
  const url = String(service.lines().find(({ msg }) => msg === 'metrics')?.['url'])
  const text = await (await fetch(url)).text()
  return /^countersign_evidence_refused (\d)$/m.exec(text)?.[1]
}

/** A line can come later than the reply that followed it: they come by different pipes. */
const untilLogged = (wanted: string) =>
  until(() => service.lines().some(({ msg }) => msg === wanted), `the line '${wanted}'`)

describe('POST /execute 503 evidenceRefused', () => {
  // proves fault: A table of the evidence
  test('after one 502 nothing more is executed, GET /ready says why, and both end when the evidence is stored', async () => {
    await database.pool.query('ALTER TABLE execution_evidence RENAME TO evidence_away')
    const lost = aTransaction()
    expect((await service.post('/execute', lost)).status).toBe(502)

    for (const path of ['/execute', '/transactions', '/execute']) {
      const refused = await service.post(path, aTransaction())
      expect(reply(refused)).toEqual(REFUSED)
      expect(refused.headers.get('retry-after')).toBe('5')
    }
    const { rows } = await database.pool.query(
      'SELECT count(*)::integer AS claimed FROM business_transactions',
    )
    expect(rows).toEqual([{ claimed: 1 }])
    expect(reply(await service.get('/ready', { key: null }))).toMatchObject({
      status: 503,
      body: {
        status: 'NOT_READY',
        reason: 'The database refuses to store evidence: a table is missing.',
      },
    })
    expect(await refusedMetric()).toBe('1')
    await untilLogged('the database refuses to store evidence: no execution is admitted')

    await database.pool.query('ALTER TABLE evidence_away RENAME TO execution_evidence')
    await until(async () => (await service.get('/ready', { key: null })).status === 200, 'a store to succeed')
    expect(await intentState(database, lost.businessTransactionId)).toBe('FINALIZED')
    expect((await service.get(`/trust-records/${lost.businessTransactionId}`)).status).toBe(200)
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
    expect(await refusedMetric()).toBe('0')
    await untilLogged('the database stores evidence again')
  })

  // proves fault: The database refuses the evidence
  test('one that is refused for its own values is a 502 alone: the others go on', async () => {
    await database.pool.query(
      `ALTER TABLE execution_evidence ADD CONSTRAINT no_poison CHECK (body NOT LIKE '%poison%')`,
    )
    const poisoned = aTransaction({ intent: { target: 'poison' } })
    const answers = await Promise.all(
      [aTransaction(), poisoned, aTransaction()].map((one) => service.post('/execute', one)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 502, 200])
    expect((await service.get('/ready', { key: null })).status).toBe(200)
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
    await database.pool.query('ALTER TABLE execution_evidence DROP CONSTRAINT no_poison')
  })
})
