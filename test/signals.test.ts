// Signals to the programs that an operator starts: what stops, what stays, and that none opens Node's debugger.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aCluster, eventually } from './embedded/drive.ts'
import { argumentsOf, processesOf } from './processes.ts'
import { until } from './service.ts'
import { outputOf } from './start-main.ts'

const ROOT = join(import.meta.dirname, '..')

interface Started {
  readonly child: ChildProcess
  readonly pid: number
  readonly output: () => string
  readonly url: () => Promise<string>
}

/** A port that nobody else has, should the debugger open after all. */
const NODE_OPTIONS = '--inspect-port=0'

function startProgram(folder: string, program: string, ...args: string[]): Started {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: folder, DATA_DIR: folder, PORT: '0', NODE_OPTIONS },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const output = outputOf(child)
  const listening = /"url":"([^"]+)","server".*"msg":"listening"/
  const url = async () => (await until(() => listening.exec(output()), 'the service to listen'))[1] ?? ''
  return { child, pid: child.pid as number, output, url }
}

const serviceOf = (folder: string): number => {
  const [pid] = processesOf(folder).filter((one) => argumentsOf(one).startsWith('node\0bin/start.js'))
  if (pid === undefined) throw new Error('no service runs')
  return pid
}

describe('npm start leaves no process behind', () => {
  // proves fault: A closed terminal, npm or the
  test.each([
    [
      'SIGHUP to npm and all under it, as a closed terminal sends it',
      (pid: number) => process.kill(-pid, 'SIGHUP'),
    ],
    ['SIGHUP to npm alone', (pid: number) => process.kill(pid, 'SIGHUP')],
    ['SIGKILL of npm alone', (pid: number) => process.kill(pid, 'SIGKILL')],
    ['SIGKILL of npm and all under it', (pid: number) => process.kill(-pid, 'SIGKILL')],
    ['SIGKILL of the service', (_: number, folder: string) => process.kill(serviceOf(folder), 'SIGKILL')],
  ])('%s', async (_, send) => {
    const folder = aCluster()
    const first = startProgram(folder, 'npm', 'start')
    await first.url()
    send(first.pid, folder)
    await eventually(() => expect(processesOf(folder)).toEqual([]))
    // No crash recovery: the database was shut down, not killed.
    const log = readFileSync(join(folder, 'postgres', 'postgres.log'), 'utf8')
    expect(log.trimEnd()).toMatch(/database system is shut down$/)
  })

  test('and the next start finds no database to stop; SIGHUP drains it, with exit code 0', async () => {
    const folder = aCluster()
    const first = startProgram(folder, process.execPath, 'bin/start.js')
    await first.url()
    first.child.kill('SIGKILL')
    await eventually(() => expect(processesOf(folder)).toEqual([]))
    const second = startProgram(folder, process.execPath, 'bin/start.js')
    await second.url()
    expect(second.output()).not.toContain('still runs')
    second.child.kill('SIGHUP')
    expect(await once(second.child, 'exit')).toEqual([0, null])
    expect(second.output()).toContain('"signal":"SIGHUP","msg":"stopping"')
    expect(processesOf(folder)).toEqual([])
  })
})

describe('SIGUSR1', () => {
  // proves abuse: SIGUSR1 to the service
  test.each([
    ['npm start', 'npm', ['start']],
    ['the image and the unit', process.execPath, ['bin/start.js']],
    ['bin/countersign serve', 'bin/countersign', ['serve']],
  ] as const)('opens no debugger: %s', async (_, program, args) => {
    const folder = aCluster()
    const service = startProgram(folder, program, ...args)
    const url = await service.url()
    const pid = program === 'npm' ? serviceOf(folder) : service.pid
    // Node opens it between two turns of the event loop, which each request takes.
    for (let i = 0; i < 20; i++) {
      process.kill(pid, 'SIGUSR1')
      expect((await fetch(`${url}/health`)).status).toBe(200)
    }
    expect(service.output()).not.toContain('Debugger')
    service.child.kill('SIGTERM')
    expect(await once(service.child, 'exit')).toEqual([0, null])
  })

  test('opens one in a program of Node that does not see to it, which these tests would notice', async () => {
    const plain = startProgram(
      aCluster(),
      process.execPath,
      '-e',
      'console.log("up"); setInterval(() => {}, 1000)',
    )
    await until(() => plain.output().includes('up'), 'the program')
    plain.child.kill('SIGUSR1')
    await until(() => plain.output().includes('Debugger listening'), 'the debugger')
    plain.child.kill('SIGKILL')
  })
})
