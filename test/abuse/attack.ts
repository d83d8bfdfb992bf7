// Tests of one client against its neighbours share an attack by a process of its own, and what a neighbour sees meanwhile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { CallOptions, TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import type { Attack } from './attacker.ts'

const ATTACKER = join(import.meta.dirname, 'attacker.ts')

/** Runs an attack until the returned function is called, which tells how often each status was answered. */
export async function attackWith(
  { url }: TestService,
  attack: Omit<Attack, 'port'>,
): Promise<() => Promise<Record<string, number>>> {
  const port = Number(new URL(url).port)
  const child = spawn(process.execPath, [ATTACKER], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify({ ...attack, port }))
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  await once(child.stdout, 'data')
  return async () => {
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
    return JSON.parse(output.replace('ready\n', '')) as Record<string, number>
  }
}

/**
 * Executes for a neighbour whose principal is `victim`, one after the other.
 * @returns the milliseconds of each, ascending
 */
export async function executions(
  service: TestService,
  victim: CallOptions,
  samples: number,
): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < samples; i++) {
    const startedMs = performance.now()
    const { status, body } = await service.post(
      '/execute',
      aTransaction({ authority: { principalId: 'victim' } }),
      victim,
    )
    expect({ status, body: status === 200 ? undefined : body }).toEqual({ status: 200, body: undefined })
    times.push(performance.now() - startedMs)
  }
  return times.toSorted((a, b) => a - b)
}
