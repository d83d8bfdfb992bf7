// A program of the bench in a process of its own, so that its CPU time is not the service's: takes a job, answers a result.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ReceiverJob, ReceiverReady } from './receiver.ts'

interface Program<Job, Result, Progress> {
  /** @throws Error when the program ends, or when it has not answered in time */
  run(job: Job, options: { withinMs: number; onProgress?: (progress: Progress) => void }): Promise<Result>
  [Symbol.dispose](): void
}

/**
 * @param file beside this one: it answers each message, a job, with a message `{ result }`, and may send `{ progress }` before; a job
 *   that throws ends it, unhandled
 */
export function openProgram<Job extends object, Result, Progress = never>(
  file: string,
): Program<Job, Result, Progress> {
  const child = fork(join(import.meta.dirname, file))
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with exit code ${String(code)}`)
  })
  ended.catch(() => undefined)
  return {
    async run(job, { withinMs, onProgress }) {
      const { promise: answered, resolve, reject } = Promise.withResolvers<Result>()
      const listen = ({ progress, result }: { progress?: Progress; result?: Result }) =>
        progress === undefined ? resolve(result as Result) : onProgress?.(progress)
      const late = setTimeout(() => reject(new Error(`${file} has not answered in ${withinMs} ms`)), withinMs)
      child.on('message', listen)
      try {
        child.send(job)
        return await Promise.race([answered, ended])
      } finally {
        child.off('message', listen)
        clearTimeout(late)
      }
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

/** @returns the address of an external connector that answers after `delayMs` (bench/receiver.ts) */
export async function openReceiver(delayMs: number, stack: AsyncDisposableStack): Promise<string> {
  const receiver = stack.use(openProgram<ReceiverJob, ReceiverReady>('receiver.ts'))
  return `${(await receiver.run({ delayMs }, { withinMs: 20_000 })).origin}/`
}
