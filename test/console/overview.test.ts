// `npm run demo:console` as its reader gets it: a month of executions behind a service, told the same by every page.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { baseEnvironment } from '../run/environment.ts'
import { until } from '../service.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', 'demo', 'console.ts')

let folder: string
let demo: ChildProcess
let output = ''
let ended: Promise<unknown[]>

function start(args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...baseEnvironment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  return child
}

const found = (pattern: RegExp) => pattern.exec(output)?.[1] ?? ''
const origin = () => found(/(http:\/\/localhost:\d+)\/console/)
const keyOf = (name: string) => found(new RegExp(`^ +${name} +(csk_\\S+)`, 'm'))

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  demo = start(['--size', 'small', '--seed', '7'])
  ended = once(demo, 'exit')
  await until(() => output.includes('Ctrl-C') || demo.exitCode !== null, 'the month to be over', 120_000)
  expect(demo.exitCode, output).toBeNull()
}, 130_000)

afterAll(async () => {
  demo.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

async function read<T>(path: string): Promise<T> {
  const url = origin().replace('localhost', '127.0.0.1')
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${keyOf('auditor')}` } })
  expect(response.status, path).toBe(200)
  return (await response.json()) as T
}

interface Counted {
  readonly completeUntil: string
  readonly buckets: readonly {
    readonly start: string
    readonly groups: readonly { readonly key: string | null; readonly count: number }[]
  }[]
}

describe('npm run demo:console', () => {
  test('has a month of executions of every outcome, at the times at which they happened', async () => {
    const since = new Date(Date.now() - 31 * 86_400_000).toISOString()
    const path = `/statistics?bucket=day&by=status&since=${since}`
    const { buckets } = await until(
      async () => {
        const counted = await read<Counted>(path)
        const groups = counted.buckets.flatMap((bucket) => bucket.groups)
        const count = groups.reduce((sum, one) => sum + one.count, 0)
        // What is in doubt is known once its connector's time is over.
        return count >= 240 && groups.some(({ key }) => key === 'in_doubt') ? counted : undefined
      },
      'the catalogue to have all of it',
      30_000,
    )
    expect(buckets.length).toBeGreaterThan(25)
    const outcomes = new Set(buckets.flatMap(({ groups }) => groups.map(({ key }) => key)))
    expect(outcomes).toEqual(new Set(['completed', 'failed', 'in_doubt', 'refused']))
  })

  test('has requests that ended in every way, changes, deliveries and two endpoints', async () => {
    const { requests } = await read<{ requests: { status: string }[] }>('/approval-requests?pageSize=100')
    const statuses = new Set(requests.map(({ status }) => status))
    expect(statuses).toEqual(
      new Set(['APPROVED', 'DECLINED', 'ENDED', 'EXPIRED', 'PENDING', 'USED', 'WITHDRAWN']),
    )
    const { changes } = await read<{ changes: { kind: string; status: string }[] }>('/changes?pageSize=100')
    expect(new Set(changes.map(({ status }) => status))).toEqual(
      new Set(['APPROVED', 'REJECTED', 'PENDING_APPROVAL']),
    )
    const { events } = await read<{ events: { outcome: string }[] }>('/webhook-events')
    expect(new Set(events.map(({ outcome }) => outcome))).toEqual(new Set(['confirmed', 'contradicted']))
    const { eventEndpoints } = await read<{ eventEndpoints: unknown[] }>('/event-endpoints')
    expect(eventEndpoints).toHaveLength(2)
  })

  test.each([
    [['--size', 'huge'], /^--size must be full or small\.\nusage: /],
    [['--seed', 'x'], /^--seed must be a whole number\.\nusage: /],
    [['--port', '70000'], /^--port must be a whole number from 0 to 65535\.\nusage: /],
    [['--prot', '1'], /^Unknown option '--prot'.*\nusage: /s],
  ])('ends with a sentence for %s', async (args, sentence) => {
    const before = output
    output = ''
    const [code] = (await once(start(args), 'close')) as [number]
    const said = output
    output = before
    expect(said).toMatch(sentence)
    expect(code).toBe(1)
  })

  test('leaves nothing behind', async () => {
    demo.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(readdirSync(folder)).toEqual([])
  })
})
