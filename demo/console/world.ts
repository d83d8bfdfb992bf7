// A service of the demo's own with a month behind it: its database, the systems around it, and the people who know its keys.
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { generateKeys } from '../../src/core/signing/keys.ts'
import { generateMissingLogKeys } from '../../src/core/signing/log-keys.ts'
import { startJobQueue } from '../../src/server/jobs/job-queue.ts'
import { startEmbeddedPostgres } from '../../src/server/embedded/postgres.ts'
import { fetchServiceKeys } from '../../clients/typescript/src/receiver/keys.ts'
import { demoFolder, startOwnService, type OwnService } from '../own-service.ts'
import { changesOf } from './changes.ts'
import { moveClock, putClockBack, setClock } from './database-clock.ts'
import { BANK_SECRET, fill, type Clock } from './fill.ts'
import { monthOf, type MonthSize } from './month.ts'
import { hirePeople, humanNames, type Human, type HumanName, type People } from './people.ts'
import { startReceivers } from './receivers.ts'

export const sizes = {
  full: { executions: 5_000, requests: 90, days: 30 },
  /** For tests of pages: each kind of thing is there. */
  small: { executions: 240, requests: 20, days: 30 },
} as const satisfies Readonly<Record<string, MonthSize>>

export interface DemoWorld {
  readonly url: string
  /** Where the console is. */
  readonly origin: string
  readonly people: People
  /** Where a human's profile is, with the keys that sign. */
  readonly profileOf: (name: HumanName) => string
}

const DAY_MS = 24 * 3_600_000

/**
 * Starts everything; the service that is left runs by the real clock, and nothing of the other one is in it.
 * @param stack takes what has to be undone
 * @param given.passkey members that are added to Dana's entry of SERVICE_API_KEYS
 * @param given.say told of each step
 */
export async function startDemoWorld(
  {
    seed,
    size,
    port,
    passkey,
    signal,
    say,
  }: {
    seed: number
    size: MonthSize
    port: string
    passkey?: object | undefined
    signal: AbortSignal
    say: (line: string) => void
  },
  stack: AsyncDisposableStack,
): Promise<DemoWorld> {
  const folder = demoFolder()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const endMs = Date.now()
  // The humans have had a day to set it up.
  const startMs = endMs - (size.days + 1) * DAY_MS
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined })
  stack.defer(() => postgres.stop())
  await makeTables(postgres.url)
  const signingKeyDir = join(folder, 'keys')
  const made = { dir: signingKeyDir, now: new Date(startMs) }
  generateKeys(made)
  generateMissingLogKeys(made)

  const people = hirePeople()
  const env = {
    DATABASE_URL: postgres.url,
    SIGNING_KEY_DIR: signingKeyDir,
    SERVICE_API_KEYS: JSON.stringify(
      people.all.map(({ callerId, entry }) => (callerId === 'dana' ? { ...entry, ...passkey } : entry)),
    ),
    WEBHOOK_DIR: join(import.meta.dirname, 'webhooks'),
    BANK_WEBHOOK_SECRET: BANK_SECRET,
    CONSOLE_ORIGIN: `http://localhost:${port}`,
  }
  const database = new Client({ connectionString: postgres.url })
  await database.connect()
  stack.defer(() => database.end())

  let aheadMs = startMs - Date.now()
  const now = () => Date.now() + aheadMs
  const receivers = await startReceivers(now)
  stack.defer(() => receivers.stop())
  await moveClock(database, aheadMs)
  const clockModule = new URL('clock.ts', import.meta.url)
  clockModule.searchParams.set('ahead', String(aheadMs))
  const past = await startOwnService(
    signal,
    {
      ...env,
      RATE_LIMIT_EXECUTE_PER_MINUTE: '1000000',
      RATE_LIMIT_COMPUTE_MS_PER_MINUTE: '1000000000',
      APPROVAL_REQUESTS_PER_HOUR: '1000',
    },
    ['--import', clockModule.href],
  )
  try {
    receivers.trust(await fetchServiceKeys(past.url))
    const clock: Clock = {
      now,
      async moveTo(ms) {
        aheadMs = Math.max(aheadMs, ms - Date.now())
        await Promise.all([setClock(database, aheadMs), tellClock(past, aheadMs)])
      },
    }
    const changes = changesOf({
      frank: people.humans.frank,
      healthyUrl: `${receivers.origin}/events/healthy`,
      failingUrl: `${receivers.origin}/events/failing`,
      hanksPem: hirePeople().humans.dana.approvingPem,
    })
    say(`A month of ${size.executions} executions and ${size.requests} requests happens…`)
    const logged = () => waitForLog(database, signal)
    await fill(monthOf({ seed, endMs, size }), {
      url: past.url,
      signal,
      clock,
      people,
      receivers,
      logged,
      changes,
    })
    await clock.moveTo(Date.now())
  } finally {
    await past.stop()
  }
  aheadMs = 0
  await putClockBack(database)
  const service = await startOwnService(signal, { ...env, PORT: port })
  stack.defer(() => service.stop())
  const profileOf = (name: HumanName) => join(folder, `${name}.json`)
  for (const name of humanNames) writeProfile(folder, { url: service.url, human: people.humans[name] })
  return { url: service.url, origin: `http://localhost:${new URL(service.url).port}`, people, profileOf }
}

/** A profile with its keys beside it, as `setup humans` leaves them. */
function writeProfile(folder: string, { url, human }: { url: string; human: Human }): void {
  const { callerId, key, approvingPrivatePem, stepUpPrivatePem, approving } = human
  const files = {
    [`${callerId}.json`]: JSON.stringify({
      url,
      apiKey: key,
      approver: { approverId: callerId, keyId: approving.public.keyId, key: `${callerId}-approval-key.pem` },
      stepUpKey: `${callerId}-step-up-key.pem`,
    }),
    [`${callerId}-approval-key.pem`]: approvingPrivatePem,
    [`${callerId}-step-up-key.pem`]: stepUpPrivatePem,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
}

async function waitForLog(database: Client, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ waits: boolean }>(
      'SELECT EXISTS (SELECT FROM log_queue) AS waits',
    )
    if (rows[0]?.waits !== true) return
    await delay(LOG_REST_MS, undefined, { signal })
  }
}

const LOG_REST_MS = 20

/** With the real clock, which the defaults of their columns keep. */
async function makeTables(connectionString: string): Promise<void> {
  await migrate(connectionString)
  const log = { warn: () => undefined, error: () => undefined }
  const jobs = await startJobQueue({ connectionString, queues: [], log })
  await jobs.close(0)
}

/** Returns once every thread of the service has the new time. */
async function tellClock({ process: child }: OwnService, aheadMs: number): Promise<void> {
  const told = once(child, 'message')
  child.send({ aheadMs })
  await told
}
