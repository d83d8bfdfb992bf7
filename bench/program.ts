// A program of the bench in a process of its own, so that its CPU time is not the service's: takes a job, answers a result.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface Program<Job, Result> {
  /** @throws Error when the program ends, or when it has not answered in time */
  run(job: Job, options: { withinMs: number }): Promise<Result>
  [Symbol.dispose](): void
}

/** @param file beside this one: it answers each message, a job, with a message, its result; a job that throws ends it, unhandled */
export function openProgram<Job extends object, Result>(file: string): Program<Job, Result> {
  const child = fork(join(import.meta.dirname, file))
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with exit code ${String(code)}`)
  })
  ended.catch(() => undefined)
  return {
    async run(job, { withinMs }) {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(withinMs) })
      child.send(job)
      const [result] = await Promise.race([answer, ended])
      return result as Result
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}
