// Clocks that a test moves, by libfaketime: the preloaded library reads its offset from a file at every call. Where Debian's package
// `libfaketime` is missing the tests that need it skip, but not in CI.
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { BIN } from '../debian-postgres.ts'
import { cleanUpAfterEachFile } from '../run/cleanup.ts'

/** As Debian names the folder of its libraries. */
const MACHINE = arch() === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
const SHARED_MEMORY = '/dev/shm'
const LIBRARY = `/usr/lib/${MACHINE}/faketime/libfaketimeMT.so.1`

export interface Clock {
  /** The environment of the process whose clock it is. */
  readonly env: Readonly<Record<string, string>>
  /** Takes the offset to the true time, as `+2d` or `-10m`; `+0` is the true time. */
  set(offset: string): void
}

const folders: string[] = []
const before = new Set(sharedMemory())
cleanUpAfterEachFile(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  // The library's own, of processes that were killed.
  for (const name of sharedMemory())
    if (!before.has(name) && !existsSync(`/proc/${name.replace(/^.*_/, '')}`))
      rmSync(join(SHARED_MEMORY, name))
})

function sharedMemory(): string[] {
  if (!existsSync(SHARED_MEMORY)) return []
  return readdirSync(SHARED_MEMORY).filter((name) => /faketime_(sem|shm)_\d+$/.test(name))
}

/** A clock that shows the true time until it is set. Intervals that a process measures stay true. */
export function openClock(): Clock {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-clock-'))
  folders.push(folder)
  // The database runs as a user of its own.
  chmodSync(folder, 0o755)
  const file = join(folder, 'offset')
  const set = (offset: string) => writeFileSync(file, `${offset}\n`)
  set('+0')
  return {
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
  }
}

const missing = [LIBRARY, join(BIN, 'postgres')].filter((file) => !existsSync(file))
const skipped = missing.length > 0 && process.env['CI'] !== 'true'
if (skipped) console.warn(`No ${missing.join(' and no ')}: the tests that move clocks are skipped.`)

/** `describe`, for tests that move clocks. */
export const describeWithClocks = describe.skipIf(skipped)
