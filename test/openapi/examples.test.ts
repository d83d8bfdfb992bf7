// The examples of the OpenAPI document are real: posted and asked for as they stand, each gets the success it is shown with.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationOf } from '../../src/openapi/document.ts'
import refusalRecord from '../../src/openapi/examples/refusal-record.json' with { type: 'json' }
import signingKey from '../../src/openapi/examples/signing-key.json' with { type: 'json' }
import trustRecord from '../../src/openapi/examples/trust-record.json' with { type: 'json' }
import { routes } from '../../src/routes/index.ts'
import { generateKeys, readPublicKeys } from '../../src/signing/keys.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { expectEvidence } from '../evidence.ts'
import { aCaller, startService, type TestService } from '../service.ts'
import { aRejectedTransaction } from '../transactions.ts'

/** As who tries them at home: the examples are of the caller that an embedded start makes; and one who may read the audit. */
const local = aCaller('local-dev', { readAll: true })
const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-examples-'))

let database: TestDatabase
let service: TestService

beforeAll(async () => {
  generateKeys({ dir: signingKeyDir, now: new Date() })
  // The key of the example evidence, as one that signs no more.
  writeFileSync(join(signingKeyDir, `${signingKey.keyId}.public.pem`), signingKey.pem)
  database = await createDatabase()
  service = await startService({ databaseUrl: database.url, signingKeyDir, callers: [local.entry] })
  const { businessTransactionId } = refusalRecord
  const rejected = aRejectedTransaction()
  await service.post(
    '/execute',
    {
      ...rejected,
      businessTransactionId,
      metadata: { businessTransactionId },
      authority: { ...rejected.authority, principalId: 'local-dev' },
    },
    local,
  )
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await database.drop()
  rmSync(signingKeyDir, { recursive: true })
})

/** POST /execute first: the others ask for what it leaves. */
test.each(
  routes
    .filter(({ method }) => method === 'POST')
    .map((route) => ({ ...route, operation: operationOf(route) })),
)('POST $path takes its example', async ({ path, operation }) => {
  const answer = await service.post(path, operation.body?.example, local)
  expect(Object.keys(operation.answers), answer.text).toContain(String(answer.status))
  if (path.endsWith('/verify') && path !== '/verify') expect(answer.body).toMatchObject({ valid: true })
})

test.each(
  routes
    .filter(({ method }) => method === 'GET')
    .map((route) => ({ ...route, operation: operationOf(route) })),
)('GET $path finds its example', async ({ path, operation }) => {
  const filled = path.replace(/\{(\w+)\}/, (_, name: string) => operation.params?.[name]?.example ?? '')
  expect((await service.get(filled, local)).status).toBe(200)
})

test('the example record holds, checked with the example key alone', () => {
  expectEvidence(trustRecord, readPublicKeys(signingKeyDir))
})
