// Checks the addresses that the service is to listen on, before its database is started in vain.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../core/config/config.ts'
import { errorText } from '../../formats/text/error-text.ts'

/** @throws Error that names the variable, for an address of another machine or a name that cannot be resolved */
export async function requireOwnHosts({ host, metrics }: Pick<Config, 'host' | 'metrics'>): Promise<void> {
  await requireOwn('HOST', host)
  if (metrics !== undefined) await requireOwn('METRICS_HOST', metrics.host)
}

/** Listens for a moment, on any port. */
async function requireOwn(variable: string, host: string): Promise<void> {
  const server = createServer()
  try {
    await once(server.listen({ host, port: 0, exclusive: true }), 'listening')
  } catch (cause) {
    throw new Error(
      `${variable} must be an address or a name of this machine, and ${host} cannot be listened on: ${errorText(cause)}.`,
      { cause },
    )
  } finally {
    server.close()
  }
}
