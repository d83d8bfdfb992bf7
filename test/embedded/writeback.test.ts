// The files of the embedded database go to the disk as they grow, which the kernel tells: it counts the pages that wait for that.
import { closeSync, openSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import koffi from 'koffi'
import { expect, test } from 'vitest'
import { aFolder, end, eventually, query, start } from './drive.ts'

const CACHESTAT = 451
const TMPFS = 0x01021994
const syscall = koffi
  .load(null)
  .func('long syscall(long number, int fd, void *range, void *counts, unsigned int flags)')

/** Pages of a file that differ from what the disk has (cachestat(2), Linux 6.5). Undefined where the kernel does not tell. */
function dirtyPages(path: string): number | undefined {
  const file = openSync(path, 'r')
  try {
    const counts = new BigUint64Array(5)
    const result = syscall(CACHESTAT, file, new BigUint64Array(2), counts, 0) as number
    return result === 0 ? Number(counts[1]) : undefined
  } finally {
    closeSync(file)
  }
}

// Files in memory are never written anywhere.
const isTold = dirtyPages(process.execPath) !== undefined && statfsSync(tmpdir()).type !== TMPFS

test.runIf(isTold)('what a table has grown by is on its way to the disk within seconds', async () => {
  const dataDir = aFolder()
  const { url } = await start(dataDir)
  await query(url, 'CREATE TABLE growing (x text)')
  const [file] = await query(url, `SELECT pg_relation_filepath('growing')`)
  const path = join(dataDir, 'postgres/data', String(file))
  for (let times = 0; times < 2; times++) {
    await query(url, `INSERT INTO growing SELECT repeat('x', 1000) FROM generate_series(1, 10000)`)
    await eventually(() => expect(dirtyPages(path)).toBe(0))
  }
})

test('without the library for that call the kernel writes when it likes, which is said, and nothing else changes', async () => {
  const driver = await start(aFolder(), { script: join(import.meta.dirname, 'driver-without-koffi.ts') })
  await eventually(() =>
    expect(driver.logged()).toContain(
      "warn PostgreSQL's files are left to the kernel to write: there is no koffi\n",
    ),
  )
  expect(await query(driver.url, 'SELECT 42')).toEqual([42])
  expect(await end(driver, 'SIGTERM')).toBe(0)
})
