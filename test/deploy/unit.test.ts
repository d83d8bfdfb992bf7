// deploy/countersign.service: what systemd says of it, and what it says about the service. Without systemd the first two skip, but not in CI.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { npmStart } from '../../bench/npm-start.ts'
import { Environment, readConfig } from '../../src/core/config/config.ts'
import { aFolder } from '../embedded/drive.ts'
import { ROOT } from './dockerfile.ts'

const UNIT = join(ROOT, 'deploy', 'countersign.service')
const unit = readFileSync(UNIT, 'utf8')
const valuesOf = (name: string) =>
  Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value)

const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })
const skipped = analyze('--version').status !== 0 && process.env['CI'] !== 'true'

test.skipIf(skipped)('systemd finds nothing wrong with the unit', () => {
  // With paths that are here: systemd looks for the program.
  const copy = join(aFolder(), 'countersign.service')
  const here = unit
    .replaceAll('/opt/countersign/node_modules/node/bin/node', process.execPath)
    .replaceAll('/opt/countersign', ROOT)
  writeFileSync(copy, here)
  expect(analyze('verify', '--man=no', copy)).toMatchObject({ status: 0, stdout: '', stderr: '' })
  writeFileSync(copy, here.replace('KillMode=mixed', 'KillMode=sometimes'))
  expect(analyze('verify', '--man=no', copy).stderr).toContain('sometimes')
})

test.skipIf(skipped)(
  'systemd calls what the service could do to the machine small: an exposure of 2.0 of 10 or less',
  () => {
    expect(analyze('security', '--offline=true', '--no-pager', '--threshold=20', UNIT)).toMatchObject({
      status: 0,
    })
    expect(analyze('security', '--offline=true', '--no-pager', '--threshold=5', UNIT).status).not.toBe(0)
  },
)

test('starts the service with the arguments of npm start', () => {
  const [, ...start] = npmStart
  expect(start).toEqual(['bin/start.js'])
  expect(valuesOf('ExecStart')).toEqual([expect.stringMatching(new RegExp(`/node ${start.join(' ')}$`))])
})

test('sets variables that the service reads, under folders that it may use', () => {
  const variables = Object.fromEntries(
    valuesOf('Environment').map((line) => line.split('=') as [string, string]),
  )
  expect(Object.keys(Environment.properties)).toEqual(expect.arrayContaining(Object.keys(variables)))
  const [state = ''] = valuesOf('StateDirectory').map((name) => `/var/lib/${name}`)
  for (const name of ['DATA_DIR', 'SIGNING_KEY_DIR'])
    expect(variables[name], name).toMatch(new RegExp(`^${state}(/|$)`))
  const config = readConfig({
    ...variables,
    DATABASE_URL: 'postgres:///x',
    SERVICE_API_KEYS: `[{"callerId":"x","keyHash":"${'0'.repeat(64)}"}]`,
  })
  expect(config.production).toBe(true)
})

test('a stop is not cut short, and V8 may compile', () => {
  expect(Number(valuesOf('TimeoutStopSec')) * 1000).toBeGreaterThan(readConfig({}).shutdownTimeoutMs + 8_000)
  expect([valuesOf('MemoryDenyWriteExecute'), valuesOf('KillMode')]).toEqual([['no'], ['mixed']])
})
