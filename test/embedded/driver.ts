// Starts the embedded PostgreSQL as the service does, in a process of its own, so that a test can kill it. Takes the data folder;
// prints one JSON line when ready, or with the refusal; stops at SIGTERM.
import { startEmbeddedPostgres } from '../../src/server/embedded/postgres.ts'

try {
  const postgres = await startEmbeddedPostgres({
    dataDir: process.argv[2] ?? '',
    log: ({ level, msg }) => console.error(`${level} ${msg}`),
  })
  const alive = setInterval(() => {}, 1000)
  process.once('SIGTERM', () => {
    clearInterval(alive)
    postgres.stop().catch((error: unknown) => {
      console.error(error)
      process.exitCode = 1
    })
  })
  console.log(JSON.stringify({ url: postgres.url, pid: postgres.pid() }))
} catch (error) {
  console.log(JSON.stringify({ refusal: error instanceof Error ? error.message : String(error) }))
  process.exitCode = 1
}
