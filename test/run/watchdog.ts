// Waits until the test run that started it is gone, then kills what is left of it and removes its folder.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { argumentsOf, kill, processesOf } from '../processes.ts'

const POLL_MS = 50
/** How long a PostgreSQL may take to end by itself. */
const POSTGRES_MS_MAX = 5_000

const [folder = ''] = process.argv.slice(2)
if (folder === '') throw new Error('the folder of the run is missing')

process.stdin.resume()
await new Promise((resolve) => process.stdin.once('close', resolve))

// Again and again: a supervisor restarts a database that ends, and a process may start another before it is killed.
for (const since = Date.now(); ; await sleep(POLL_MS)) {
  const left = processesOf(folder).filter((pid) => pid !== process.pid)
  if (left.length === 0) break
  for (const pid of left) {
    // An immediate shutdown removes the shared memory, which a killed PostgreSQL leaves behind.
    const isPostgres = /postgres(\0-D|:)/.test(argumentsOf(pid))
    kill(pid, isPostgres && Date.now() - since < POSTGRES_MS_MAX ? 'SIGQUIT' : 'SIGKILL')
  }
}
rmSync(folder, { recursive: true, force: true })
