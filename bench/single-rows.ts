// A yardstick: what PostgreSQL does with one row and one commit for each execution, as pgbench measures a machine. Each of the
// connections inserts one row of the bytes that an execution stores, which commits, and then the next.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'

export interface SingleRowsJob {
  readonly databaseUrl: string
  readonly connections: number
  readonly seconds: number
  /** Of one execution. */
  readonly bytes: string
}

export interface SingleRowsResult {
  readonly rows: number
  readonly seconds: number
  /** Of the program, per row. */
  readonly cpuMicros: number
}

const TABLE = `CREATE TABLE IF NOT EXISTS single_rows (id uuid PRIMARY KEY, bytes text STORAGE EXTERNAL NOT NULL)
  WITH (toast_tuple_target = 8160)`

process.on('message', (job: SingleRowsJob) => void run(job).then((result) => process.send?.(result)))

/** Kept from job to job: CPU time of backends that end while they are looked at may be missed. */
let connected: Promise<Client[]> | undefined

async function connect(databaseUrl: string, connections: number): Promise<Client[]> {
  const clients = Array.from({ length: connections }, () => new Client({ connectionString: databaseUrl }))
  await Promise.all(clients.map((client) => client.connect()))
  await clients[0]?.query(TABLE)
  return clients
}

async function run({ databaseUrl, connections, seconds, bytes }: SingleRowsJob): Promise<SingleRowsResult> {
  const clients = await (connected ??= connect(databaseUrl, connections))
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  let rows = 0
  const insert = async (client: Client) => {
    while (performance.now() - startMs < seconds * 1000) {
      await client.query({
        name: 'single_row',
        text: 'INSERT INTO single_rows (id, bytes) VALUES ($1::uuid, $2::text)',
        values: [randomUUID(), bytes],
      })
      rows++
    }
  }
  await Promise.all(clients.map(insert))
  const { user, system } = process.cpuUsage(startCpu)
  return { rows, seconds: (performance.now() - startMs) / 1000, cpuMicros: (user + system) / rows }
}
