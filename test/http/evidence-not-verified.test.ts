// The bytes of a batch are compared with what the very functions make that its texts were written by (docs/design-notes.md "What is
// verified when"). A mistake in any of them is found all the same: by the one of each batch that is checked whole. Each of them has a
// mistake here, in a service as it runs.
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { CACHE } from '../run/bundle.ts'
import { bundlePrograms } from '../run/programs.ts'
import { reply, until, type ServiceOptions, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'
import { mistakes, withMistakes } from './mistakes.ts'

const NOT_VERIFIED = {
  status: 503,
  body: {
    error: 'Evidence that this service signed does not verify. Nothing was executed.',
    code: 'EVIDENCE_NOT_VERIFIED',
  },
}

const programs = join(CACHE, 'programs-with-mistakes')
let database: TestDatabase
let start: (options: ServiceOptions) => Promise<TestService>
beforeAll(() => bundlePrograms(programs, withMistakes))
withDatabase((made) => ({ database, start } = made))

const startWith = (mistake: string, env: Record<string, string> = {}) =>
  start({ env: { ...env, TEST_PROGRAMS: programs, MISTAKE: mistake } })

describe('POST /execute 503 evidenceNotVerified', () => {
  // proves fault: A mistake in the code that writes
  test.each(Object.entries(mistakes))(
    'after a mistake in %s nothing is receipted, and nothing more is executed',
    async (name, mistake) => {
      const service = await startWith(name)
      const sent = Array.from({ length: 12 }, () => aTransaction())
      const answers = await Promise.all(sent.map((one) => service.post('/execute', one)))
      for (const [i, { status }] of answers.entries()) {
        // Those that came one by one may have been in no batch.
        if ('inBatchesOnly' in mistake && status === 200) continue
        expect([500, 502, 503]).toContain(status)
        const rows = await rowsOf(database, sent[i]!.businessTransactionId)
        expect(rows).toMatchObject({ trust_records: 0, verifications: 0, receipts: 0 })
      }
      const refused = aTransaction()
      for (const path of ['/execute', '/transactions'])
        expect(reply(await service.post(path, refused))).toEqual(NOT_VERIFIED)
      expect(await rowsOf(database, refused.businessTransactionId)).toMatchObject({
        business_transactions: 0,
      })
      expect(await service.stop()).toBe(0)
    },
  )

  test('GET /ready and the log say why, the metric too, and a store does not end it: a restart does', async () => {
    const service = await startWith('a record', { METRICS_PORT: '0' })
    const unverified = aTransaction()
    expect(await service.post('/execute', unverified)).toMatchObject({
      status: 502,
      body: { code: 'EXECUTION_OUTCOME_UNKNOWN' },
    })
    const refused = await service.post('/execute', aTransaction())
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(reply(await service.get('/ready', { key: null }))).toMatchObject({
      status: 503,
      body: {
        status: 'NOT_READY',
        reason:
          'Evidence that this instance signed does not verify: it executes nothing until it is restarted.',
      },
    })
    const metrics = String(service.lines().find(({ msg }) => msg === 'metrics')?.['url'])
    expect(await (await fetch(metrics)).text()).toMatch(/^countersign_evidence_refused 1$/m)
    const line = (wanted: object) =>
      until(() => {
        const lines = service.lines()
        return lines.some((one) => Object.entries(wanted).every(([name, value]) => one[name] === value))
      }, JSON.stringify(wanted))
    const { businessTransactionId } = unverified
    await line({
      msg: 'evidence that this instance signed does not verify: no execution is admitted',
      businessTransactionId,
    })
    await line({ businessTransactionId, status: 502 })
    const cause = service
      .lines()
      .find((one) => one['businessTransactionId'] === businessTransactionId && one['status'] === 502)
    expect(String(cause?.['cause'])).toContain('The trust record hash does not match the canonical record')
    expect(await service.stop()).toBe(0)

    const restarted = await startWith('none')
    expect((await restarted.get('/ready', { key: null })).status).toBe(200)
    expect((await restarted.post('/execute', aTransaction())).status).toBe(200)
  })
})
