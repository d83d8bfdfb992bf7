// Finds a port for a program that cannot report which one it was given.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** @returns a port of this machine's loopback that nothing listens on now */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
