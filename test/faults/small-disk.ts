// A disk that a test can fill: a tmpfs of a fixed size. Whoever may not mount one skips, but not in CI.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { cleanUpAfterEachFile } from '../run/cleanup.ts'

const CHUNKS = [1024 * 1024, 4096] as const

export interface SmallDisk {
  readonly folder: string
  /** Leaves no block free. */
  fill(): void
  free(): void
}

const disks: string[] = []
cleanUpAfterEachFile(() => {
  for (const folder of disks.splice(0)) unmount(folder)
})

/** Open to every user, as a data folder must be; gone after the tests of the file. */
export function mountSmallDisk(bytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const { status, stderr } = mount(folder, bytes)
  if (status !== 0) throw new Error(`mount: ${stderr}`)
  disks.push(folder)
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill() {
      const file = openSync(ballast, 'a')
      for (const size of CHUNKS) writeUntilFull(file, Buffer.alloc(size))
      closeSync(file)
    },
    free: () => rmSync(ballast),
  }
}

function writeUntilFull(file: number, chunk: Buffer): void {
  try {
    for (;;) writeSync(file, chunk)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  }
}

function mount(folder: string, bytes: number) {
  const options = `size=${bytes},mode=755`
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'countersign-test', folder], { encoding: 'utf8' })
}

/** Lazily: a server that is just ending may still have its folder open. */
function unmount(folder: string): void {
  spawnSync('umount', ['--lazy', folder])
  rmdirSync(folder)
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const { status } = mount(folder, 4096)
  if (status === 0) unmount(folder)
  else rmdirSync(folder)
  return status === 0
}

const skipped = process.env['CI'] !== 'true' && !mayMount()
if (skipped)
  console.warn('No tmpfs may be mounted here (it takes root): the tests of a full disk are skipped.')

/** `describe`, for tests that need a disk of their own. */
export const describeWithDisk = describe.skipIf(skipped)
