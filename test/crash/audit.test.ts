// kill -9 of the service under refusals: every refusal that a caller has read stands in the audit (decisions §9).
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { createDatabase } from '../database.ts'
import { aFolder } from '../embedded/drive.ts'
import { aCaller, startService, until } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { makeKeys } from '../signing-keys.ts'

const KILLS = 3
const CONNECTIONS = 16

// proves fault: kill -9 of the service while requests
test(`after each of ${KILLS} kills every refusal that was answered is there, once, and verifies`, async () => {
  const database = await createDatabase()
  const signingKeyDir = `${aFolder()}/keys`
  makeKeys(signingKeyDir)
  const scoped = aCaller('scoped', { allowedPrincipalIds: ['nobody'] })
  const human = aCaller('human', { credentialHolderType: 'USER' })
  const start = () =>
    startService({
      databaseUrl: database.url,
      signingKeyDir,
      callers: [scoped.entry, human.entry],
      env: { TRUST_PROXY_HOPS: '1' },
    })

  /** Principals of the 403 that were read, and addresses of the 401. */
  const denied: string[] = []
  const rejected: string[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const service = await start()
    const startedWith = denied.length
    const stopping = new AbortController()
    const connection = async (i: number) => {
      while (!stopping.signal.aborted) {
        const principalId = randomUUID()
        // The first of an address in a minute is stored before it is answered.
        const address = `192.0.${kill}.${rejected.length % 256}`
        try {
          const { status } =
            i % 2
              ? await service.get('/', { key: 'csk_bad', headers: { 'X-Forwarded-For': address } })
              : await service.post('/execute', aTransaction({ authority: { principalId } }), scoped)
          if (status === 401) rejected.push(address)
          if (status === 403) denied.push(principalId)
        } catch {
          return // killed: this one was not answered
        }
      }
    }
    const load = Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => connection(i)))
    const enough = startedWith + Math.round(20 + Math.random() * 200)
    await until(() => denied.length >= enough, `${enough} refusals`)
    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    stopping.abort()
    await load
    await service.stop()
  }

  const { rows } = await database.pool.query<{
    type: string
    principal: string | null
    address: string | null
    signed: string
  }>(
    `SELECT type, body::json ->> 'principalId' AS principal, body::json #>> '{detail,clientAddress}' AS address, '{"event":' || body || ',"signature":' || seal || '}' AS signed
     FROM audit_events`,
  )
  const stored = rows
    .filter(({ type }) => type === 'caller.principal_denied')
    .map(({ principal }) => principal)
  const addresses = rows.map(({ address }) => address)
  expect(new Set(stored).size).toBe(stored.length)
  expect(denied.filter((principal) => !stored.includes(principal))).toEqual([])
  expect(rejected.filter((address) => !addresses.includes(address))).toEqual([])
  expect(rejected.length).toBeGreaterThan(0)

  const service = await start()
  const keySet = (await service.get('/.well-known/jwks.json')).text
  expect(rows.filter(({ signed }) => !verifyEvidence(signed, keySet).valid)).toEqual([])
  const [newest] = (await service.get('/audit/events?pageSize=1', human)).body.events
  expect((await service.post('/audit/verify', newest)).body).toMatchObject({ valid: true })
  expect(await service.stop()).toBe(0)
  await database.drop()
})
