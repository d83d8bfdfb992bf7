// kill -9 of the service under load: what was acknowledged is there, what was not is in doubt or never was, nothing is there twice.
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { aCluster, processesOf } from '../embedded/drive.ts'
import { look } from '../embedded/look.ts'
import { expectEvidence, readStored } from '../evidence.ts'
import { forEach, startLoad, type Outcome } from '../load.ts'
import { startService, until, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'

const KILLS = 4

// proves fault: kill -9 of the service under load
test(`after each of ${KILLS} kills at a random moment the service comes back with everything it acknowledged`, async () => {
  const dataDir = aCluster()
  const signingKeyDir = join(dataDir, 'keys')
  makeKeys(signingKeyDir)
  const identity = { signingKeyDir, key: makeRawKey(), env: { DATA_DIR: dataDir } }
  const outcomes: Outcome[] = []

  for (let kill = 0; kill < KILLS; kill++) {
    const service = await startService(identity)
    const load = startLoad(service, 32)
    const enough = Math.round(20 + Math.random() * 400)
    await until(() => load.count(200) >= enough, `${enough} executions`)
    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    outcomes.push(...(await load.stop()))
    await service.stop()
  }

  const service = await startService(identity)
  expect(outcomes.filter(({ reply }) => reply !== undefined && reply.status !== 200)).toEqual([])
  const acknowledged = outcomes.filter(({ reply }) => reply !== undefined)
  const unanswered = outcomes.filter(({ reply }) => reply === undefined)
  const before = await look(dataDir, readStored)

  const keys = readPublicKeys(signingKeyDir)
  await forEach(acknowledged, async ({ transaction, reply }) => {
    const read = await service.get(`/trust-records/${transaction.businessTransactionId}`)
    expect(read.text).toBe(reply?.text)
    expectEvidence(read.body, keys)
  })
  await forEach(outcomes.filter(isClaimed), async (outcome) => expectConflict(service, outcome))
  // Slow connectors were always under way, and nobody was told how they ended.
  expect(
    unanswered.filter(({ transaction }) => before.inDoubt.has(transaction.businessTransactionId)),
  ).not.toEqual([])
  // A repost of what is claimed changes nothing: what was in doubt still is.
  expect(await look(dataDir, readStored)).toEqual(before)

  // Requests that never arrived are not lost for good: their ids are free.
  await forEach(
    unanswered.filter((outcome) => !isClaimed(outcome)),
    async ({ transaction }) => {
      expect((await service.post('/execute', transaction)).status).toBe(200)
    },
  )
  expect(await service.stop()).toBe(0)
  expect(processesOf(dataDir)).toEqual([])

  function isClaimed({ transaction }: Outcome): boolean {
    return before.claimed.has(transaction.businessTransactionId)
  }
})

async function expectConflict(service: TestService, { transaction }: Outcome): Promise<void> {
  const { status, headers } = await service.post('/execute', transaction)
  expect(status).toBe(409)
  expect(headers.get('location')).toBe(`/trust-records/${transaction.businessTransactionId}`)
}
