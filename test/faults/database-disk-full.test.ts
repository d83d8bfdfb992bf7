// The disk of the embedded PostgreSQL is full, for its data or for its log: 503, and everything by itself when there is room again.
import { expect, test } from 'vitest'
import { look, postmasterPid } from '../embedded/look.ts'
import { until } from '../service.ts'
import { startLoaded, type LoadedService } from './database-load.ts'
import { describeWithDisk, mountSmallDisk } from './small-disk.ts'

/** A fresh cluster takes some 60 MB, and its log grows by 16 MB at a time. */
const DISK_BYTES = 192 * 1024 * 1024
/** The supervisor waits up to five seconds between attempts, and PostgreSQL recovers first. */
const RECOVERED_MS_MAX = 60_000

async function finish(loaded: LoadedService, dataDir: string): Promise<void> {
  await look(dataDir, (pool) => loaded.finish(pool))
}

describeWithDisk('a full disk', () => {
  // proves fault: The disk is full for the data; fault: The disk is full while the log
  test('for the data: 503 or 502, /ready says so, and executions go on as soon as there is room', async () => {
    const disk = mountSmallDisk(DISK_BYTES)
    const loaded = await startLoaded({ env: { DATA_DIR: disk.folder } })
    await loaded.answered('200', 10)

    await makeRoomForLog(disk.folder)
    disk.fill()
    await loaded.answered('503 DATABASE_UNAVAILABLE', 4)
    await loaded.unready('The database cannot be used: its disk is full.')
    disk.free()
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    await finish(loaded, disk.folder)
  })

  // proves fault: The disk is full for the log of; fault: The disk is full while the log
  test('for the log: PostgreSQL ends itself and cannot start; with room it is started again, and nothing is lost', async () => {
    const disk = mountSmallDisk(DISK_BYTES)
    const loaded = await startLoaded({ env: { DATA_DIR: disk.folder } })
    await loaded.answered('200', 10)

    const before = postmasterPid(disk.folder)
    disk.fill()
    const isTriedAgain = () =>
      loaded.service.lines().some(({ msg }) => /No space left on device.*next attempt/s.test(String(msg)))
    // Another statement may fail first: it is asked for files until it has ended itself.
    await until(async () => {
      await startSegment(disk.folder).catch(() => undefined)
      return isTriedAgain()
    }, 'an attempt to start PostgreSQL again without room')
    await loaded.answered('503 DATABASE_UNAVAILABLE', 4)
    disk.free()
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    expect(postmasterPid(disk.folder)).not.toBe(before)
    await finish(loaded, disk.folder)
  })
})

/** Makes PostgreSQL take another file for its log: room for 16 MB more of it. */
async function startSegment(dataDir: string): Promise<void> {
  await look(dataDir, async (pool) => {
    await pool.query(`SELECT pg_switch_wal()`)
    await pool.query(`SELECT pg_logical_emit_message(true, 'test', 'one more')`)
  })
}

/** Leaves PostgreSQL files for its log that it need not make: a checkpoint keeps those before it for later. */
async function makeRoomForLog(dataDir: string): Promise<void> {
  for (let files = 0; files < 3; files++) await startSegment(dataDir)
  await look(dataDir, (pool) => pool.query('CHECKPOINT'))
}
