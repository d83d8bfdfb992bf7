// Flips one bit in a page of a stopped database, as a bad disk does: its checksum no longer holds.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from './database-server.ts'

const PAGE_BYTES = 8192

/**
 * Flips a bit in a page while the server is stopped, and starts it again.
 * @param relation a table or an index of the database `postgres`
 * @returns a function that flips the bit back
 */
export async function flipBitOf(
  server: Server,
  relation: string,
  page: number,
): Promise<() => Promise<void>> {
  const [row] = await server.run(`SELECT pg_relation_filepath('${relation}') AS path`)
  const path = join(server.folder, 'data', String(row?.['path']))
  const flip = async () => {
    await server.stop('fast')
    flipBit(path, (page + 1) * PAGE_BYTES - 100)
    await server.start()
  }
  await flip()
  return flip
}

function flipBit(path: string, at: number): void {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  if (readSync(file, byte, 0, 1, at) !== 1) throw new Error(`${path} has no such page`)
  byte[0] = (byte[0] as number) ^ 1
  writeSync(file, byte, 0, 1, at)
  closeSync(file)
}
