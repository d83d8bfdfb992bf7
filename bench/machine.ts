// A report names the machine that the figures were measured on: without it the figures mean nothing.
import { spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, release, tmpdir, totalmem, type } from 'node:os'
import { join } from 'node:path'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
  /** Time of an 8 KiB write in the temporary folder, where the database is. Near 0 that folder is memory, and the figures mean little. */
  readonly fsyncMs: { readonly p50: number; readonly p99: number }
  /** `-dirty`: with changes that are in no commit. */
  readonly commit: string
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: totalmem() / 2 ** 30,
    system: `${type()} ${release()}`,
    node: process.version,
    fsyncMs: fsyncMs(),
    commit: commitOf(import.meta.dirname),
  }
}

function fsyncMs(): Machine['fsyncMs'] {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  const file = openSync(join(folder, 'fsync'), 'w')
  const page = Buffer.alloc(8192)
  const times = Array.from({ length: 200 }, () => {
    const startMs = performance.now()
    writeSync(file, page)
    fsyncSync(file)
    return performance.now() - startMs
  }).toSorted((a, b) => a - b)
  closeSync(file)
  rmSync(folder, { recursive: true })
  return { p50: times[100] ?? 0, p99: times[198] ?? 0 }
}

/** `-dirty`: with changes that are in no commit. */
export function commitOf(folder: string): string {
  const head = git(folder, 'rev-parse', '--short=12', '--quiet', '--verify', 'HEAD') ?? 'none'
  return head === 'none' || git(folder, 'status', '--porcelain') === '' ? head : `${head}-dirty`
}

function git(cwd: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
