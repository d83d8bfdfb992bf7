// How many connections an instance takes, as docs/handbook/scaling.md says it: from the pools in the code, and as PostgreSQL counts them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectionsOf } from '../../workers/connections.ts'
import type { TestDatabase } from '../database.ts'
import { chapters } from '../handbook.ts'
import type { TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { ROOT } from './dockerfile.ts'
import { withService } from '../with-service.ts'

const THREADS = 2
const page = chapters.get('scaling.md') ?? ''
/** The last cell of the row that begins so. */
const said = (of: string) =>
  Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`| ${of}`))
      ?.split('|')
      .at(-2),
  )

let database: TestDatabase
let service: TestService
withService((made) => ({ database, service } = made), {
  env: { WORKER_THREADS: String(THREADS), ACME_WEBHOOK_SECRET: 'a-secret-of-many-characters' },
})

/** The sum of a file's pools: each is opened with a number or a constant of the same file. */
function poolsOf(file: string, but = /(?!)/): number {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const sizes = Array.from(text.matchAll(/openPool\(\s*(\w+),\s*(\w+)/g), ([, at = '', size = '']) =>
    but.test(at) ? 0 : valueOf(size),
  )
  expect(sizes.length, file).toBeGreaterThan(0)
  return sizes.reduce((a, b) => a + b, 0)

  function valueOf(size: string): number {
    if (/^\d+$/.test(size)) return Number(size)
    const [, value = ''] = new RegExp(`^const ${size} = (.*)$`, 'm').exec(text) ?? []
    return Number(value)
  }
}

test('the table of the chapter is what the code opens', () => {
  expect(parts()).toEqual({
    main: poolsOf('src/server/start/pools.ts', /^replica$/) + poolsOf('src/server/start/listening.ts'),
    webhooks: poolsOf('src/server/jobs/job-queue.ts'),
    execution: connectionsOf('execution'),
    large: connectionsOf('large-execution'),
    background: connectionsOf('background'),
    administration: connectionsOf('administration'),
  })
  const { main, webhooks, large, administration, execution, background } = parts()
  const [, ...terms] =
    /instances × \((\d+) \+ (\d+) \+ (\d+) \+ (\d+) \+ (\d+) × `WORKER_THREADS` \+ (\d+) × ⌈`WORKER_THREADS` ÷ 4⌉\)/.exec(
      page,
    ) ?? []
  expect(terms.map(Number)).toEqual([main, webhooks, large, administration, execution, background])
  const [, threads, instances, each, sum] =
    /with (\d+) threads and a provider: (\d+) × (\d+) = (\d+),/.exec(page) ?? []
  expect(Number(each)).toBe(mostOf(Number(threads)))
  expect(Number(sum)).toBe(Number(instances) * Number(each))
})

/** The rows of the table. */
function parts() {
  return {
    main: said('the main thread'),
    webhooks: said('webhooks'),
    execution: said('each of `WORKER_THREADS`'),
    large: said('the thread for large executions'),
    background: said('other work'),
    administration: said('administration'),
  }
}

/** An instance with a provider has so many connections at most. */
function mostOf(threads: number): number {
  const { main, webhooks, large, administration, execution, background } = parts()
  return main + webhooks + large + administration + execution * threads + background * Math.ceil(threads / 4)
}

/** Ten executions with a list each. Returns the most connections of the service that existed meanwhile. */
async function load(): Promise<number> {
  let most = 0
  for (let i = 0; i < 10; i++) {
    const [executed, listed, counted] = await Promise.all([
      service.post('/execute', aTransaction()),
      service.get('/transactions'),
      database.pool.query<{ n: number }>(
        `SELECT count(*)::integer AS n FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'countersign'`,
      ),
    ])
    expect([executed.status, listed.status]).toEqual([200, 200])
    most = Math.max(most, counted.rows[0]?.n ?? 0)
  }
  return most
}

test('an instance under load takes no more than that', async () => {
  const most = Math.max(...(await Promise.all(Array.from({ length: 24 }, load))))
  const bound = mostOf(THREADS)
  expect(most).toBeLessThanOrEqual(bound)
  // Idle from the start on: readiness, authority and webhooks; the rest came with the load.
  expect(most).toBeGreaterThan(bound / 4)
})
