// How the bench's own service ended: only exit code 0 is nothing to report.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { watched } from '../../bench/service.ts'

const program = (text: string) =>
  spawn(process.execPath, ['--eval', text], { stdio: ['ignore', 'pipe', 'inherit'] })

test.each([
  ['process.exit(0)', []],
  ['process.exit(3)', ['the service ended with exit code 3 after SIGTERM']],
])('at SIGTERM: %s', async (atSigterm, problems) => {
  const child = program(
    `process.on('SIGTERM', () => ${atSigterm}); setInterval(() => {}, 1000); console.log('ready')`,
  )
  const { running, stop } = watched(child)
  await once(child.stdout, 'data')
  expect(running()).toBe(true)
  expect(await stop()).toEqual(problems)
  expect(running()).toBe(false)
})

test('killed', async () => {
  const child = program('setInterval(() => {}, 1000)')
  const { stop } = watched(child)
  child.kill('SIGKILL')
  expect(await stop()).toEqual(['the service was killed'])
})
