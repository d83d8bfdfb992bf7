// A temporary service for a command, in a process of its own: it has threads and a database.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Env } from '../database.ts'

interface ServiceForAWhile {
  readonly url: string
  /** Returns when it has ended cleanly. */
  stop(): Promise<void>
}

/**
 * Starts `countersign serve` on a free port of this machine.
 * @param env its configuration; its address, its log and its metrics are set here
 * @throws Error with its output where it does not start
 */
export async function startForAWhile(env: Env): Promise<ServiceForAWhile> {
  const own = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error', METRICS_PORT: '', TRUST_PROXY_HOPS: '' }
  const child = spawn(process.execPath, [process.argv[1] ?? '', 'serve'], {
    env: { ...env, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  let said = ''
  const ready = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const [, url] = /^Countersign is ready at (\S+)\.$/m.exec(said) ?? []
      if (url !== undefined) resolve(url)
    })
  })
  const url = await Promise.race([ready, closed.then(() => undefined)])
  if (url === undefined) throw new Error(`The service does not start.\n${errors.trim()}`)
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      const [status] = await closed
      if (status !== 0) throw new Error(`The service did not stop cleanly.\n${errors.trim()}`)
    },
  }
}
