// A primary with a synchronous standby, and the one address by which a service reaches whichever is the primary: what an operator has
// in HAProxy or a virtual IP. node-postgres itself takes one host.
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { until } from '../service.ts'
import { startServer, startStandby, type Server } from './database-server.ts'

export interface Replicated {
  readonly primary: Server
  readonly standby: Server
  readonly address: DatabaseProxy
}

/** Every commit that the primary acknowledges has reached the standby. */
export async function startReplicated(): Promise<Replicated> {
  const primary = await startServer()
  const standby = await startStandby(primary, 'standby')
  // Here and not in postgresql.conf, which the standby copied: when it is promoted it must not wait for itself.
  await primary.run(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
  await primary.run('SELECT pg_reload_conf()')
  await until(async () => {
    const [row] = await primary.run('SELECT sync_state FROM pg_stat_replication')
    return row?.['sync_state'] === 'sync'
  }, 'the standby to be synchronous')
  return { primary, standby, address: await openDatabaseProxy(primary.url) }
}
