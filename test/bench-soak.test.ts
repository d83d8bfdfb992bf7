// The soak goes to every route, and ends well on a service that is well; a few seconds of it say whether it works, not whether memory
// is flat.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Report } from '../bench/report.ts'
import { mix } from '../bench/soak.ts'
import { slopeOf } from '../bench/soak/samples.ts'
import { routes } from '../src/server/routes/index.ts'
import { bundledEnvironment } from './run/environment.ts'

test('each story of the mix has a name of its own', () => {
  expect(new Set(mix.map(({ name }) => name)).size).toBe(mix.length)
})

test('a few seconds of the mix go to every route of the table, with no status but the right ones, and fsck finds nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  // The bench's database runs as another user, which has to pass.
  chmodSync(folder, 0o711)
  const json = join(folder, 'report.json')
  const args = ['bench/index.ts', 'soak', '--minutes', '0.1', '--rate', '20', '--json', json]
  const bench = spawn(process.execPath, args, {
    env: { ...bundledEnvironment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [bench.stdout, bench.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const [code] = (await once(bench, 'close')) as [number | null]
  expect(code, output).toBe(0)
  expect(output).toContain('each told once')
  const [scenario] = (JSON.parse(readFileSync(json, 'utf8')) as Report).scenarios
  const called = new Set(scenario?.further?.['Routes']?.map(({ label }) => label))
  const table = routes.map(({ method, path }) => `${method} ${path}`)
  expect(table.filter((route) => !called.has(route))).toEqual([])
  rmSync(json)
  expect(readdirSync(folder)).toEqual([])
  rmSync(folder, { recursive: true })
}, 300_000)

const HOUR_MS = 3_600_000

test('the slope of a straight line is its own, whatever lies around it evenly', () => {
  const series = Array.from({ length: 1_000 }, (_, i) => ({
    at: (i * HOUR_MS) / 1_000,
    bytes: 1e8 + (i / 1_000) * 50e6 + (i % 2 ? 3e6 : -3e6),
  }))
  const slope = slopeOf(series)
  expect(slope?.perHour).toBeCloseTo(50, 0)
  expect(slope?.plusMinus).toBeLessThan(1)
})

test('noise is no leak: its interval holds zero', () => {
  const series = Array.from({ length: 1_000 }, (_, i) => ({
    at: i * 1_000,
    bytes: 1e8 + Math.sin(i * i) * 20e6,
  }))
  const { perHour = Number.NaN, plusMinus = 0 } = slopeOf(series) ?? {}
  expect(Math.abs(perHour)).toBeLessThan(plusMinus)
})

test('too few samples have no slope', () => {
  expect(slopeOf([])).toBeUndefined()
  expect(slopeOf([{ at: 0, bytes: 1 }])).toBeUndefined()
})
