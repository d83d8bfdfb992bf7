// A start approves the files by genesis at the very first, and loads them at every later one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readWebhookRules, readWebhookRulesInEffect } from '../../src/store/tables/webhook-rules.ts'
import { readWebhookRules as readFile } from '../../src/core/webhook-rules/load.ts'
import { readAuthority } from '../../src/core/callers/authority-state.ts'
import { unapproved } from '../../src/server/start/unapproved.ts'
import { syncDocuments } from '../../src/server/start/sync-documents.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aPolicyFolder } from '../policies.ts'

let database: TestDatabase
let dirs: { policyDir: string; webhookDir: string }

beforeEach(async () => {
  database = await createDatabase()
  dirs = { policyDir: aPolicyFolder(), webhookDir: mkdtempSync(join(tmpdir(), 'webhooks-')) }
})

afterEach(async () => {
  await database.drop()
  for (const dir of Object.values(dirs)) rmSync(dir, { recursive: true })
})

/** @returns the file's hash */
function write(provider: string, event = 'paid'): string {
  const file = join(dirs.webhookDir, `${provider}.yaml`)
  writeFileSync(
    file,
    `provider: ${provider}\nrules:\n  - { id: paid, when: payload.event == '${event}', transaction: payload.id, says: executed }\n`,
  )
  return readFile(file).rulesHash
}

const start = (...providers: string[]) =>
  syncDocuments(database.pool, {
    ...dirs,
    webhookDirGiven: true,
    webhookProviders: Object.fromEntries(
      providers.map((provider) => [provider, { scheme: 'contract' as const, secrets: ['a secret'] }]),
    ),
  })

const stored = async () =>
  (await readWebhookRules(database.pool)).map(({ provider, rulesHash, approvedBy }) => [
    provider,
    rulesHash,
    approvedBy,
  ])

test('the rules of the very first start are approved by genesis, and in effect', async () => {
  const rulesHash = write('acme')
  expect(await start('acme')).toMatchObject({ warnings: [], differences: [] })
  expect(await stored()).toEqual([['acme', rulesHash, 'genesis']])
  expect(await readWebhookRulesInEffect(database.pool)).toMatchObject([{ provider: 'acme', rulesHash }])
})

test('a first start without rules leaves none to the next one to approve', async () => {
  await start()
  const rulesHash = write('acme')
  const { shipped } = await start('acme')
  expect(unapproved(shipped, await readAuthority(database.pool, []))).toEqual([
    "Webhook rules of 'acme' are loaded, and not approved: they are not in effect.",
  ])
  expect(await stored()).toEqual([['acme', rulesHash, null]])
  expect(await readWebhookRulesInEffect(database.pool)).toEqual([])
})

test('a file that changed is loaded beside what stays in effect, and each start says so', async () => {
  const before = write('acme')
  await start('acme')
  const after = write('acme', 'captured')
  for (const _ of ['first', 'second'])
    expect((await start('acme')).differences).toEqual([
      {
        message: "The approved webhook rules of 'acme' stay in effect; their file differs.",
        file: join(dirs.webhookDir, 'acme.yaml'),
      },
    ])
  expect(await stored()).toEqual([
    ['acme', before, 'genesis'],
    ['acme', after, null],
  ])
  write('acme')
  expect((await start('acme')).differences).toEqual([])
  expect(await stored()).toEqual([['acme', before, 'genesis']])
})

test('rules of a provider without a secret are warned of', async () => {
  write('acme')
  expect((await start()).warnings).toEqual([
    "Webhook rules of 'acme' are never used: ACME_WEBHOOK_SECRET is not set.",
  ])
})

describe('a folder is refused, and the database left alone', () => {
  // proves abuse: Rules that do not compile
  test.each([
    [
      'with a file that does not compile',
      'acme.yaml',
      'provider: acme\nrules: [{ id: paid }]',
      /rule paid: the rule must have/,
    ],
    [
      'with a file of another provider',
      'acme.yaml',
      'provider: other\nrules: []',
      /provider must be the file's name, acme\.$/,
    ],
    ['with a file that is no YAML', 'acme.yaml', 'rules: [', /acme\.yaml, line /],
    [
      'with a file of another ending',
      'acme.yml',
      'provider: acme\nrules: []',
      /acme\.yml: Must end in \.yaml\.$/,
    ],
  ])('%s', async (_, name, text, message) => {
    write('good')
    writeFileSync(join(dirs.webhookDir, name), text)
    await expect(start()).rejects.toThrow(message)
    expect(await stored()).toEqual([])
  })

  test('that was named and is not there; the default one may be missing', async () => {
    const config = { ...dirs, webhookDir: join(dirs.webhookDir, 'none'), webhookProviders: {} }
    await expect(syncDocuments(database.pool, { ...config, webhookDirGiven: true })).rejects.toThrow(
      'none: Cannot be read: ',
    )
    expect(await syncDocuments(database.pool, { ...config, webhookDirGiven: false })).toMatchObject({
      warnings: [],
    })
  })
})
