// countersign intents: what an operator sees of an execution, from its release to its end.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { inTransaction } from '../src/store/postgres/transaction.ts'
import { insertConfirmations } from '../src/store/tables/provider-confirmations.ts'
import { unlogged } from '../src/store/tables/log-queue.ts'
import { aHuman } from './authority.ts'
import { runCommand } from './command.ts'
import type { TestDatabase } from './database.ts'
import { notedInDoubt, putInDoubt } from './intents.ts'
import { until, type TestService } from './service.ts'
import { aTransaction } from './transactions.ts'
import { withService } from './with-service.ts'

const human = aHuman('olive')

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), { callers: [human.entry] })

const intents = (...args: string[]) => runCommand(['intents', ...args], { DATABASE_URL: database.url })

async function executed(): Promise<string> {
  const transaction = aTransaction()
  const { status } = await service.post('/execute', transaction)
  expect(status).toBe(200)
  return transaction.businessTransactionId
}

/** Stores the provider's word, as the processing of its delivery does. */
async function confirm(id: string, more: object): Promise<void> {
  const confirmationId = randomUUID()
  const at = new Date().toISOString()
  const body = {
    confirmationId,
    provider: 'acme',
    ruleId: 'paid',
    receivedAt: at,
    businessTransactionId: id,
    ...more,
  }
  await inTransaction(database.pool, (sql) => {
    sql.runLast(
      insertConfirmations([
        {
          confirmationId,
          businessTransactionId: id,
          provider: 'acme',
          eventKey: randomUUID(),
          rulesHash: '0'.repeat(64),
          at,
          body: JSON.stringify(body),
          seal: '{}',
          ...unlogged,
        },
      ]),
    )
  })
}

const TIME = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`

test('list names what is in doubt', async () => {
  expect(await intents('list')).toEqual({ status: 0, stdout: '', stderr: 'Nothing is in doubt.\n' })
  const ids = [await executed(), await executed()]
  for (const id of ids) await putInDoubt(database, id)
  await until(async () => (await notedInDoubt(database)).size === 2, 'the sweep to note them')
  const { stdout, stderr } = await intents('list')
  const heads = 'BUSINESS TRANSACTION ID  IN DOUBT SINCE  CALLER  ACTION  TARGET  AMOUNT\n'
  expect(stderr).toBe(`${heads}2 in doubt.\n`)
  const lines = stdout.trimEnd().split('\n').toSorted()
  expect(lines).toEqual(
    ids
      .toSorted()
      .map(
        (id) =>
          expect.stringMatching(new RegExp(`^${id}  ${TIME}  tester  sandbox:echo  \\S+  42$`)) as string,
      ),
  )
  expect((await intents('list', '--limit', '1')).stderr).toBe(
    `${heads}1 in doubt, and more: give a greater --limit.\n`,
  )
})

test('show tells the story of one: what the provider said, and who closed it', async () => {
  const id = await executed()
  expect((await intents('show', id)).stdout).toMatch(
    new RegExp(
      `^${id}  sandbox:echo  \\S+  42  tester  FINALIZED\n${TIME}  RELEASED\n${TIME}  FINALIZED by its Execution Trust Record\n$`,
    ),
  )
  await putInDoubt(database, id)
  await confirm(id, {
    eventId: 'evt_1\u001b[31m',
    says: 'executed',
    comparisons: [
      { expression: 'payload.amount == transaction.intent.parameters.amount', holds: false },
      { expression: 'payload.currency == "EUR"', holds: true },
    ],
  })
  expect((await intents('show', id.toUpperCase())).stdout).toContain('  in doubt since ')
  const resolution = { resolution: 'EXECUTED', note: 'The provider says so.' }
  expect((await service.post(`/execution-intents/${id}/resolve`, resolution, human)).status).toBe(200)
  const { status, stdout } = await intents('show', id)
  expect(status).toBe(0)
  const [first, ...story] = stdout.trimEnd().split('\n')
  expect(first).toMatch(/ {2}RESOLVED$/)
  expect(story.map((line) => line.replace(new RegExp(`^${TIME}  `), ''))).toEqual([
    'RELEASED',
    'acme says executed (delivery evt_1\ufffd[31m, rule paid), but these comparisons fail: payload.amount == transaction.intent.parameters.amount',
    'RESOLVED EXECUTED by olive: The provider says so.',
  ])
})

test('resolve shows what was to be done, and signs how it ended once a human says y', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-intents-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'olive.pem'), human.privateKeyPem)
  const profile = join(folder, 'olive.json')
  writeFileSync(profile, JSON.stringify({ url: service.url, apiKey: human.key, stepUpKey: 'olive.pem' }))
  const resolve = (id: string, outcome: string, answer: string, ...more: string[]) =>
    runCommand(
      ['intents', 'resolve', id, outcome, '--note', 'The bank has none.', '--profile', profile, ...more],
      // Variables that the shell exports for an agent must not replace the human whose profile is typed.
      { COUNTERSIGN_API_KEY: 'a key of somebody else', COUNTERSIGN_URL: 'http://127.0.0.1:9' },
      (child) => child.stdin?.end(answer),
    )
  const id = await executed()
  expect(await resolve(id, 'executed', 'y\n')).toMatchObject({
    status: 1,
    stderr: 'countersign: The execution is FINALIZED and not in doubt. Nothing was signed.\n',
  })
  await putInDoubt(database, id)
  expect(await resolve(id, 'perhaps', 'y\n')).toMatchObject({ status: 2 })
  const refused = await resolve(id, 'not-executed', 'n\n')
  expect(refused).toMatchObject({ status: 1, stdout: '' })
  expect(refused.stderr).toContain('Nothing was signed. The execution stays in doubt.')
  const signed = await resolve(id, 'not-executed', 'y\n', '--json')
  expect(signed.stderr).toContain('"target"')
  expect(signed.stderr).toContain('Signed and delivered: it was NOT_EXECUTED.')
  const { transitions } = JSON.parse(signed.stdout) as {
    transitions: { transition: { stepUpAuthorization: { payload: object } } }[]
  }
  expect(transitions[0]?.transition).toMatchObject({
    by: 'olive',
    note: 'The bank has none.',
    stepUpAuthorization: { payload: { action: 'resolve', resolution: 'NOT_EXECUTED' } },
  })
  // The nonce is consumed under the id of an execution, which is no change.
  const { rows } = await database.pool.query('SELECT FROM step_up_nonces WHERE change_id = $1', [id])
  expect(rows).toHaveLength(1)
  const checked = await runCommand(['fsck'], {
    DATABASE_URL: database.url,
    SIGNING_KEY_DIR: service.signingKeyDir,
  })
  expect(checked.stdout).toMatch(/problem/)
  expect(checked.stdout).not.toContain('step_up_nonces')
})

test('what cannot be shown is a sentence', async () => {
  const unknown = randomUUID()
  expect(await intents('show', unknown)).toEqual({
    status: 1,
    stdout: '',
    stderr: `countersign: No execution ${unknown} was released.\n`,
  })
  expect((await intents('show', 'first')).stderr).toBe(
    'countersign: The id must be a businessTransactionId, a UUID.\n',
  )
})

test('a database that cannot be opened is named as that', async () => {
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' }
  expect(await runCommand(['intents', 'list'], env)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^countersign: The database cannot be opened: connect ECONNREFUSED /),
  })
})
