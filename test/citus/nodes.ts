// The servers of a Citus cluster as an operator sets them up by docs/handbook/scaling.md, each with its own terminal.
import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/cli/free-port.ts'
import { blocks } from '../handbook.ts'
import { aServerFolder, runAsPostgres } from '../drills/server.ts'
import { until } from '../service.ts'

const CHAPTER = 'scaling.md'

export interface Node {
  readonly port: number
  /** Its superuser's connection to a database. */
  url(database: string): string
  start(): Promise<void>
  /** Kills the server as a machine that loses its power. */
  kill(): void
  /** Runs a script of the chapter as its superuser. */
  run(script: string): Promise<void>
  /** Ends the server and removes its data. */
  destroy(): Promise<void>
}

/** Makes a server with the settings of the chapter and starts it. Nodes trust each other, as behind a `pg_hba.conf` of their own. */
export async function aNode(): Promise<Node> {
  const folder = aServerFolder()
  const port = await freePort()
  const data = join(folder, 'data')
  const env = { PGDATA: data, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' }
  const terminal = { cwd: folder, env }
  await runAsPostgres(
    'initdb --username postgres --auth trust --encoding UTF8 --no-locale --no-sync > log',
    terminal,
  )
  const settings = blocks(CHAPTER, 'ini').find((block) => block.includes('citus')) ?? ''
  appendFileSync(
    join(data, 'postgresql.conf'),
    `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n${settings}\n`,
  )
  const isStarted = async () => {
    try {
      // The processes of one that was killed hold its shared memory for a moment.
      await runAsPostgres('pg_ctl start --silent --log log', terminal)
      return true
    } catch {
      return false
    }
  }
  const node: Node = {
    port,
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    async start() {
      const started = until(isStarted, `the node on port ${port} to start`)
      await started.catch((error: unknown) => {
        throw new Error(`the node did not start:\n${readFileSync(join(folder, 'log'), 'utf8')}`, {
          cause: error,
        })
      })
    },
    kill() {
      const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    },
    async run(script) {
      await runAsPostgres(script, terminal)
    },
    async destroy() {
      await runAsPostgres('pg_ctl stop --mode immediate --silent || true', terminal)
      rmSync(folder, { recursive: true })
    },
  }
  await node.start()
  return node
}

/** The one block of the chapter with this text, for nodes of this machine: `coordinator`, then `worker-1` and so on. */
export function shown(text: string, nodes: readonly Node[]): string {
  const found = blocks(CHAPTER, 'sh').filter((block) => block.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${CHAPTER} contain ${text}`)
  return nodes.reduce(
    (script, { port }, i) =>
      script.replaceAll(i === 0 ? `'coordinator', 5432` : `'worker-${i}', 5432`, `'127.0.0.1', ${port}`),
    found.join(''),
  )
}
