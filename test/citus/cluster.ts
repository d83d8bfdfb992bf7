// A database that is distributed over the nodes of a Citus cluster, as docs/handbook/scaling.md says.
import { Client } from 'pg'
import { onServer } from '../database.ts'
import { CITUS_SQL } from './distributed.ts'

/** The nodes of the cluster whose coordinator this database is, the coordinator first; the database alone where it is none. */
export async function nodesOf(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const citus = await client.query(`SELECT 1 FROM pg_extension WHERE extname = 'citus'`)
    if (citus.rows.length === 0) return [url]
    const { rows } = await client.query<{ name: string; port: number }>(
      `SELECT nodename AS name, nodeport AS port FROM pg_dist_node WHERE groupid > 0 ORDER BY nodeid`,
    )
    return [url, ...rows.map(({ name, port }) => hostUrl(url, name, port))]
  } finally {
    await client.end()
  }
}

function hostUrl(url: string, name: string, port: number): string {
  const node = new URL(url)
  node.hostname = name
  node.port = String(port)
  return node.href
}

/** As Citus's functions take a node. */
const at = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`

/**
 * Makes one database of databases of one name: with the extension, the nodes and the distributed tables. Nobody can connect to it
 * afterwards, so that it can be cloned: Citus keeps a process of its own in every database that is used.
 *
 * @param urls the migrated database of the coordinator first
 */
export async function distribute(urls: readonly string[]): Promise<void> {
  const [coordinator = '', ...workers] = urls
  for (const url of urls) await onServer(url, 'CREATE EXTENSION citus')
  await onServer(coordinator, `SELECT citus_set_coordinator_host(${at(coordinator)})`)
  for (const url of workers) await onServer(coordinator, `SELECT citus_add_node(${at(url)})`)
  await onServer(coordinator, CITUS_SQL)
  for (const url of urls) {
    const name = new URL(url).pathname.slice(1)
    await onServer(url.replace(/[^/]*$/, 'postgres'), `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await onServer(
      url.replace(/[^/]*$/, 'postgres'),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    )
  }
}
