// kill -9 of PostgreSQL under load: callers see 200, 503 or 502 and each means what it says; the service comes back by itself.
import { describe, expect, test } from 'vitest'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { aCluster, processesOf } from '../embedded/drive.ts'
import { look, postmasterPid } from '../embedded/look.ts'
import { expectEvidence, readStored } from '../evidence.ts'
import { forEach, startLoad, type Load, type Outcome } from '../load.ts'
import { startService, until, type TestService } from '../service.ts'

const KILLS = 3

const killPostmaster = (dataDir: string) => {
  process.kill(postmasterPid(dataDir), 'SIGKILL')
  return Promise.resolve()
}

/** One that is just executing a transaction; all others are ended by the postmaster, which does not trust its memory any more. */
const killBackend = (dataDir: string) =>
  look(dataDir, async (pool) => {
    const pid = await until(async () => {
      const { rows } = await pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'countersign' AND state <> 'idle'`,
      )
      return rows[0]?.pid
    }, 'a busy backend')
    process.kill(pid, 'SIGKILL')
  })

describe.each([
  ['the postmaster', killPostmaster],
  ['a backend', killBackend],
])('%s', (_, kill) => {
  // proves fault: kill -9 of the postmaster
  test(`killed ${KILLS} times at a random moment: no acknowledged execution is missing, and no answer lies`, async () => {
    const dataDir = aCluster()
    const service = await startService({ env: { DATA_DIR: dataDir } })
    const load = startLoad(service, 32)
    for (let times = 0; times < KILLS; times++) {
      await executedMore(load, 20 + Math.random() * 200)
      await kill(dataDir)
      await untilReady(service, 503)
      await untilReady(service, 200)
    }
    await executedMore(load, 50)
    const outcomes = await load.stop()

    const stored = await look(dataDir, readStored)
    const wrong: unknown[] = []
    for (const { transaction, reply } of outcomes) {
      const id = transaction.businessTransactionId
      const recorded = stored.recorded.has(id)
      const answer = `${reply?.status} ${reply?.body.code ?? ''}`.trim()
      const honest =
        answer === '200'
          ? recorded
          : answer === '503 DATABASE_UNAVAILABLE'
            ? !recorded
            : answer === '502 EXECUTION_OUTCOME_UNKNOWN' && (recorded || stored.inDoubt.has(id))
      if (!honest) wrong.push({ id, answer, recorded, inDoubt: stored.inDoubt.has(id) })
    }
    expect(wrong).toEqual([])

    const keys = readPublicKeys(service.signingKeyDir)
    await forEach(answeredWith(outcomes, 200), async ({ transaction, reply }) => {
      const read = await service.get(`/trust-records/${transaction.businessTransactionId}`)
      expect(read.text).toBe(reply?.text)
      expectEvidence(read.body, keys)
    })
    // A 503 may be tried again: it executes now, or the claim was committed and only its confirmation lost.
    await forEach(answeredWith(outcomes, 503), async ({ transaction, reply }) => {
      expect(reply?.headers.get('retry-after')).toBe('1')
      const { status } = await service.post('/execute', transaction)
      expect(status).toBe(stored.claimed.has(transaction.businessTransactionId) ? 409 : 200)
    })
    expect(await service.stop()).toBe(0)
    expect(processesOf(dataDir)).toEqual([])
  })
})

async function executedMore(load: Load, count: number): Promise<void> {
  const enough = load.count(200) + Math.round(count)
  await until(() => load.count(200) >= enough, `${enough} executions`)
}

async function untilReady(service: TestService, status: 200 | 503): Promise<void> {
  await until(async () => (await service.get('/ready')).status === status, `GET /ready to answer ${status}`)
}

function answeredWith(outcomes: readonly Outcome[], status: number): Outcome[] {
  return outcomes.filter(({ reply }) => reply?.status === status)
}
