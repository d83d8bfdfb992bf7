// kill -9 of the service under deliveries: what was acknowledged is stored and processed exactly once, whatever moment it died at.
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { createDatabase } from '../database.ts'
import { aFolder } from '../embedded/drive.ts'
import { startService, until } from '../service.ts'
import { aDelivery, auditedDetails, deliver, env, storedEvents, type Delivery } from '../webhooks.ts'
import { makeKeys } from '../signing-keys.ts'

const KILLS = 3
const CONNECTIONS = 16

// proves §6 Response 200 · `{status; fault: kill -9 of the service while a provider; abuse: kill -9 between the acknowledgement
test(`after each of ${KILLS} kills every acknowledged delivery is there and is processed once`, async () => {
  const database = await createDatabase()
  const signingKeyDir = `${aFolder()}/keys`
  makeKeys(signingKeyDir)
  const key = makeRawKey()
  const start = () => startService({ databaseUrl: database.url, signingKeyDir, key, env })

  const accepted: Delivery[] = []
  const unanswered: Delivery[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const service = await start()
    const startedWith = accepted.length
    const connection = async () => {
      for (;;) {
        const delivery = aDelivery()
        try {
          const { body } = await deliver(service, delivery)
          expect(body).toEqual({ status: 'accepted' })
          accepted.push(delivery)
        } catch (error) {
          unanswered.push(delivery)
          // fetch's own error: killed, this one was not answered.
          if (error instanceof TypeError) return
          throw error
        }
      }
    }
    const load = Promise.all(Array.from({ length: CONNECTIONS }, connection))
    const enough = startedWith + Math.round(20 + Math.random() * 400)
    await until(() => accepted.length >= enough, `${enough} deliveries`)
    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    await load
    await service.stop()
  }

  const service = await start()
  // The provider sends again what it got no answer for; it may have been stored.
  for (const delivery of unanswered) expect((await deliver(service, delivery)).status).toBe(200)
  const sent = [...accepted, ...unanswered].map(({ eventId }) => eventId).toSorted()
  // Jobs that were under way when it died are taken up when their time is over, so this takes a while.
  const left = async () => (await storedEvents(database)).every(({ processed_at }) => processed_at !== null)
  await until(left, 'everything to be processed')

  const stored = await storedEvents(database)
  expect(stored.map(({ event_id }) => event_id).toSorted()).toEqual(sent)
  const processed = await auditedDetails(database, 'webhook.processed')
  expect(processed.map(({ eventId = '' }) => eventId).toSorted()).toEqual(sent)
  expect(unanswered.length).toBeGreaterThan(0)
  expect(await service.stop()).toBe(0)
  await database.drop()
})
