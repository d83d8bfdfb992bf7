// A signing key of the service that somebody else may have is revoked while the service runs (docs/handbook/keeping.md "A stolen signing key").
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand, type Ran } from '../command.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aTransaction } from '../transactions.ts'
import { noPython, pythonEnv } from '../vectors/answers.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-revoked-'))
const signingKeyDir = join(folder, 'keys')
let database: TestDatabase
let service: TestService

const auditor = aCaller('auditor', { readAll: true })
const start = () =>
  startService({
    databaseUrl: database.url,
    signingKeyDir,
    callers: [auditor.entry],
    env: { RECEIPT_ALGORITHMS: 'ed25519,ml-dsa-65' },
  })
const keys = (...args: string[]) => runCommand(['keys', ...args, '--dir', signingKeyDir], {})

interface Executed {
  readonly businessTransactionId: string
  readonly authorization: { readonly payload: { readonly authorizedAt: string } }
  readonly signature: { readonly keyId: string }
}
async function anExecution(): Promise<Executed> {
  const { status, body } = await service.post('/execute', aTransaction())
  expect(status).toBe(200)
  return body
}
const verified = async ({ businessTransactionId }: Executed) => {
  const { body } = await service.post('/verify', { businessTransactionId })
  return body as { status: string; message: string }
}

beforeAll(async () => {
  makeKeys(signingKeyDir)
  database = await createDatabase()
  service = await start()
})
afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await database.drop()
  rmSync(folder, { recursive: true })
})

// proves abuse: Evidence signed by a stolen signing key
describe('a key that is revoked after a rotation', () => {
  let before: Executed
  let after: Executed
  let newer: Executed
  let keyId: string
  let revokedAt: string

  beforeAll(async () => {
    before = await anExecution()
    after = await anExecution()
    expect((await keys('rotate')).status).toBe(0)
    expect(await service.stop()).toBe(0)
    service = await start()
    newer = await anExecution()
    keyId = after.signature.keyId
    revokedAt = after.authorization.payload.authorizedAt
    const { status, stdout } = await keys('revoke', keyId, '--at', revokedAt)
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(`Revoked ${keyId}: signatures that it made from`),
    ])
    expect(stdout).not.toContain('It is the newest')
    await until(async () => {
      const { body } = await service.get(`/keys/${keyId}`, { key: null })
      return body.revokedAt === revokedAt
    }, 'the revocation to be published')
  })

  test('is published with the time, in the key set too, and to receivers of events no more', async () => {
    const { body } = await service.get('/.well-known/jwks.json', { key: null })
    const shown = body.keys as { keyId: string; algorithm: string; revokedAt?: string; x?: string }[]
    expect(shown.filter((key) => key.revokedAt !== undefined)).toEqual([
      expect.objectContaining({ keyId, revokedAt }),
    ])
    const bytes = (wanted: boolean) =>
      shown.flatMap(({ algorithm, x = '', ...key }) =>
        algorithm === 'ed25519' && (key.keyId === keyId) === wanted
          ? [`whpk_${Buffer.from(x, 'base64url').toString('base64')}`]
          : [],
      )
    const { publicKeys } = (await service.get('/event-endpoints', { key: auditor.key })).body as {
      publicKeys: string[]
    }
    expect(publicKeys).toEqual(bytes(false))
    expect(bytes(true)).toHaveLength(1)
  })

  test('POST /verify takes what it signed before, and refuses what it signed after, with the reason', async () => {
    await until(async () => (await verified(after)).status === 'FAILED', 'the threads to see it')
    expect((await verified(after)).message).toContain(
      `(key "${keyId}" was revoked at ${revokedAt}, and the createdAt of the trust-record is not before that)`,
    )
    for (const record of [before, newer]) expect(await verified(record)).toMatchObject({ status: 'VERIFIED' })
    const repeated = await service.post('/receipt', { businessTransactionId: after.businessTransactionId })
    expect(repeated).toMatchObject({ status: 409, body: { code: 'RECEIPT_GENERATION_FAILED' } })
  })

  test('fsck names what it signed after, and nothing that it signed before', async () => {
    const { status, stdout } = await runCommand(['fsck'], {
      DATABASE_URL: database.url,
      SIGNING_KEY_DIR: signingKeyDir,
    })
    expect(status).toBe(1)
    expect(stdout).toMatch(
      new RegExp(`^trust_records ${after.businessTransactionId}: .*was revoked at ${revokedAt}`, 'm'),
    )
    expect(stdout).not.toContain(before.businessTransactionId)
    expect(stdout).not.toContain(newer.businessTransactionId)
  })

  const files = { jwks: join(folder, 'jwks.json'), record: join(folder, 'record.json') }
  const args = ['verify', files.record, '--jwks', files.jwks]
  async function expectSaid(run: () => { stdout: string; status: number | null } | Promise<Ran>) {
    writeFileSync(files.jwks, (await service.get('/.well-known/jwks.json', { key: null })).text)
    for (const [record, status] of [
      [before, 0],
      [after, 1],
      [newer, 0],
    ] as const) {
      writeFileSync(files.record, JSON.stringify(record))
      const ran = await run()
      expect(ran.status).toBe(status)
      if (record !== newer) expect(ran.stdout).toContain(`was revoked at ${revokedAt}`)
    }
  }

  test('countersign verify says the same by the published key set', () =>
    expectSaid(() => runCommand(args, {})))

  test.skipIf(noPython)('so does the Python command', () =>
    expectSaid(() =>
      spawnSync('python3', ['-m', 'countersign', ...args], { env: pythonEnv, encoding: 'utf8' }),
    ),
  )
})

describe.each(['ed25519', 'ml-dsa-65'])(
  'a key of %s that is revoked while the service signs with it',
  (algorithm) => {
    let keyId: string
    let revokedAt: string
    beforeAll(async () => {
      await anExecution()
      const { stdout } = await keys('list')
      keyId = new RegExp(`^(?!log/)(\\S+-${algorithm})\\tsigns$`, 'm').exec(stdout)?.[1] ?? ''
      const revoked = await keys('revoke', keyId)
      revokedAt = /from (\S+) on do not count/.exec(revoked.stdout)?.[1] ?? ''
      expect(revoked.stdout).toContain(`It is the newest ${algorithm} key`)
    })

    describe('POST /execute 503 signingKeyRevoked', () => {
      // proves abuse: Evidence signed by a stolen signing key
      test('nothing more is executed, refused or claimed until the keys are rotated, and GET /ready says why', async () => {
        await until(async () => (await service.get('/ready', { key: null })).status === 503, 'the revocation')
        expect((await service.get('/ready', { key: null })).body).toMatchObject({
          status: 'NOT_READY',
          reason: `A signing key of this instance no longer counts: ${keyId} is revoked since ${revokedAt}.`,
        })
        await until(
          async () => (await service.post('/execute', aTransaction())).status === 503,
          'the threads',
        )
        const refused = {
          status: 503,
          body: expect.objectContaining({ code: 'SIGNING_KEY_REVOKED' }) as object,
        }
        const [transaction, other] = [aTransaction(), aTransaction({ policy: { name: 'nope' } })]
        for (const path of ['/execute', '/transactions'])
          for (const sent of [transaction, other])
            expect(reply(await service.post(path, sent))).toEqual(refused)
        const { rows } = await database.pool.query(
          `SELECT business_transaction_id FROM business_transactions WHERE business_transaction_id = ANY($1)`,
          [[transaction.businessTransactionId, other.businessTransactionId]],
        )
        expect(rows).toEqual([])

        expect(await service.stop()).toBe(0)
        await expect(start()).rejects.toThrow(`${keyId}, is revoked since ${revokedAt}`)
        expect((await keys('rotate')).status).toBe(0)
        service = await start()
        expect((await service.post('/execute', transaction)).status).toBe(200)
        expect((await service.get('/ready', { key: null })).status).toBe(200)
      })
    })
  },
)
