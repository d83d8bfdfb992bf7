// Which user the embedded database runs as, and what it can reach (docs/design-notes.md "Parts").
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findBinaries } from '../../src/server/embedded/binaries.ts'
import { closedFolder, databaseUser } from '../../src/server/embedded/user.ts'
import { aCluster, aFolder, drive, end, query, start } from './drive.ts'

const asRoot = process.getuid?.() === 0
const nobody = { name: 'nobody', uid: 65534, gid: 65534 }
const clone = join(import.meta.dirname, '../..')
const hasSetpriv =
  spawnSync('setpriv', ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search', 'true']).status ===
  0

/** The real uid of a process and its effective capabilities, in the hexadecimal of the kernel. */
function standing(pid: number): { uid: number; capabilities: string } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
    capabilities: /^CapEff:\s+(\w+)/m.exec(status)?.[1] ?? '',
  }
}

describe('as an ordinary user', () => {
  test.skipIf(!asRoot || closedFolder(clone, nobody) !== undefined)(
    'the database runs as that user',
    async () => {
      const dataDir = aFolder()
      chownSync(dataDir, nobody.uid, nobody.gid)
      const driver = await start(dataDir, { uid: nobody.uid, gid: nobody.gid })
      expect(standing(driver.pid)).toEqual({ uid: nobody.uid, capabilities: '0000000000000000' })
      expect(await query(driver.url, 'SELECT 1')).toEqual([1])
      await end(driver, 'SIGKILL')
      const next = await start(dataDir, { uid: nobody.uid, gid: nobody.gid })
      expect(await query(next.url, 'SELECT 1')).toEqual([1])
    },
  )

  test.skipIf(!asRoot || closedFolder(clone, nobody) !== undefined)(
    'a data folder of another user is a sentence',
    async () => {
      const dataDir = aCluster()
      const { said } = await drive(dataDir, { uid: nobody.uid, gid: nobody.gid })
      expect(said).toEqual({
        refusal: `DATA_DIR ${dataDir} cannot be written; start as the user it belongs to, or set another folder.`,
      })
    },
  )
})

describe.skipIf(!asRoot)('as root', () => {
  test('the database runs as an unprivileged user, who owns the data from then on', async () => {
    const dataDir = aCluster()
    const data = join(dataDir, 'postgres/data')
    const { uid } = statSync(data)
    expect(uid).not.toBe(0)
    expect(databaseUser(data)?.uid).toBe(uid)
    const { pid } = await start(dataDir)
    expect(standing(pid).uid).toBe(uid)
  })

  test.skipIf(!hasSetpriv)(
    'a clone and a data folder that only root may enter work, with one capability and without install scripts',
    async () => {
      const closed = aFolder({ mode: 0o700 })
      for (const part of ['src', 'test/embedded', 'package.json'])
        cpSync(join(clone, part), join(closed, part), { recursive: true })
      const binaries = dirname(dirname(dirname(findBinaries().postgres)))
      const copied = join(closed, binaries.slice(binaries.lastIndexOf('node_modules')))
      cpSync(binaries, copied, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() }) // as --ignore-scripts does
      symlinkSync(join(clone, 'node_modules/pg'), join(closed, 'node_modules/pg'))

      const dataDir = join(closed, '.data')
      const script = join(closed, 'test/embedded/driver.ts')
      const first = await start(dataDir, { script })
      expect(standing(first.pid)).toEqual({
        uid: databaseUser(dataDir)?.uid,
        capabilities: '0000000000000004',
      })
      await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
      await end(first, 'SIGKILL')
      const second = await start(dataDir, { script })
      expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([42])
      expect(await end(second, 'SIGTERM')).toBe(0)
    },
  )

  test.skipIf(!hasSetpriv)('without that capability the closed folder is named, and what to do', async () => {
    const closed = aFolder({ mode: 0o700 })
    const { said } = await drive(join(closed, '.data'), {
      through: ['setpriv', '--bounding-set=-dac_read_search'],
    })
    const user = databaseUser(closed) ?? nobody
    const closedClone = closedFolder(clone, user)
    expect(said).toEqual({
      refusal:
        `PostgreSQL refuses to run as root, and user "${user.name}", whom it would run as, may not enter ` +
        (closedClone === undefined ? `${closed}: set DATA_DIR to` : `${closedClone}: move the clone to`) +
        ' a folder that every user may enter, or start as an ordinary user.',
    })
    // Opening the data folder helps only where the clone is open too.
    if (closedClone !== undefined) return
    chmodSync(closed, 0o755)
    const driver = await start(join(closed, '.data'), {
      through: ['setpriv', '--bounding-set=-dac_read_search'],
    })
    expect(await query(driver.url, 'SELECT 1')).toEqual([1])
  })
})
