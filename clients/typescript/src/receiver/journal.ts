// The journal keeps what was begun and what was answered, by authorizationId, in a file that survives the process and the machine's power.
import {
  closeSync,
  existsSync,
  fdatasync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Release } from './release.ts'

/**
 * What a receiver remembers. `openJournal` keeps it in a file of one process; receivers that share a capability share a table instead, whose
 * `authorizationId` is unique.
 */
export interface Journal {
  /** Undefined: never begun. */
  readonly find: (authorizationId: string) => Entry | undefined | Promise<Entry | undefined>
  /**
   * Remembers, before the effect, that it may happen. A rejection or an exception means that nothing may be done.
   * @returns once it would survive a loss of power; false where it was begun before, by whomever
   */
  readonly begin: (release: Release) => boolean | Promise<boolean>
  /** Remembers the answer, before anybody is told. */
  readonly end: (authorizationId: string, answer: object) => void | Promise<void>
}

export interface Entry {
  /** Undefined only where an older journal did not keep it. */
  readonly release?: Release | undefined
  /** Without it: begun, and not ended as far as is known. */
  readonly answer?: object | undefined
}

export interface FileJournal extends Journal {
  /** Lets another process have the file. */
  readonly close: () => void
}

/** The service asks what became of a release for days at most; a release itself is worth nothing two minutes after it was issued. */
const KEPT_DAYS = 90

const toDisk = promisify(fdatasync)

/**
 * A journal in a file: a line for what was begun, one for its answer, each on the disk before it counts; what is written at the same time waits for the
 * disk once. What was answered more than 90 days ago is
 * left out when it is opened; what was begun and never ended stays.
 * @param path made where there is none; its folder must be there
 * @throws Error where another process has it open, or a line before the last cannot be read
 */
export function openJournal(path: string): FileJournal {
  const unlock = lock(`${path}.pid`)
  try {
    const entries = readEntries(path)
    rewrite(path, entries)
    const file = openSync(path, 'a', 0o600)
    let isClosed = false
    let hasFailed = false
    /** Under way, and the one after it, which has what is written until it begins. */
    let syncing: Promise<void> | undefined
    let next: Promise<void> | undefined

    const synced = (): Promise<void> =>
      (next ??= (syncing ?? Promise.resolve()).then(() => {
        next = undefined
        syncing = toDisk(file).finally(() => (syncing = undefined))
        return syncing
      }))

    const append = async (authorizationId: string, entry: Entry): Promise<void> => {
      // The number of the file may be another file's by now.
      if (isClosed) throw new Error(`${path} is closed.`)
      if (hasFailed) throw new Error(`${path} could not be written before: open the journal again.`)
      const line = Buffer.from(`${lineOf(authorizationId, entry)}\n`)
      try {
        if (writeSync(file, line) !== line.length)
          throw new Error(`${path} was written in part: the disk is full.`)
        await synced()
      } catch (error) {
        // Until it is opened again, which cuts off half a line, nothing may be written behind one.
        hasFailed = true
        throw error
      }
    }
    return {
      find: (authorizationId) => entries.get(authorizationId),
      async begin(release) {
        const { authorizationId } = release
        if (entries.has(authorizationId)) return false
        // At once: whoever begins it meanwhile must not.
        entries.set(authorizationId, { release })
        try {
          await append(authorizationId, { release })
        } catch (error) {
          entries.delete(authorizationId)
          throw error
        }
        return true
      },
      async end(authorizationId, answer) {
        await append(authorizationId, { answer })
        entries.set(authorizationId, { ...entries.get(authorizationId), answer })
      },
      close() {
        if (isClosed) return
        isClosed = true
        unlock()
        if (syncing === undefined && next === undefined) closeSync(file)
        else void (next ?? syncing)!.catch(() => undefined).then(() => closeSync(file))
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

const lineOf = (authorizationId: string, entry: Entry) => JSON.stringify({ authorizationId, ...entry })

function readEntries(path: string): Map<string, Entry> {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  // A last line without its end was being written when the power went: what it was to allow or to tell did not happen.
  const end = bytes.lastIndexOf('\n') + 1
  if (end !== bytes.length) truncateSync(path, end)
  const entries = new Map<string, Entry>()
  for (const [i, line] of bytes.toString('utf8', 0, end).split('\n').slice(0, -1).entries()) {
    try {
      const { authorizationId, ...entry } = JSON.parse(line) as Entry & { authorizationId: string }
      entries.set(authorizationId, { ...entries.get(authorizationId), ...entry })
    } catch (cause) {
      throw new Error(`Line ${i + 1} of ${path} cannot be read. Mend it by hand: it says what was done.`, {
        cause,
      })
    }
  }
  return entries
}

/** Leaves out what is old, of the entries and of the file. */
function rewrite(path: string, entries: Map<string, Entry>): void {
  const before = Date.now() - KEPT_DAYS * 24 * 60 * 60 * 1000
  const old = [...entries].filter(
    ([, { release, answer }]) => answer !== undefined && Date.parse(release?.expiresAt ?? '') < before,
  )
  if (old.length > 0) {
    for (const [authorizationId] of old) entries.delete(authorizationId)
    const next = `${path}.next`
    const text = [...entries]
      .map(([authorizationId, entry]) => `${lineOf(authorizationId, entry)}\n`)
      .join('')
    writeFileSync(next, text, { mode: 0o600, flush: true })
    renameSync(next, path)
  } else if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600, flush: true })
  syncFolder(dirname(path))
}

/**
 * Two processes that append to one file would each do what the other has done. The file of the lock holds the number of its process; one that a killed
 * process left is taken over.
 * @returns removes the lock
 */
function lock(path: string): () => void {
  for (;;) {
    try {
      writeFileSync(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
      open.add(path)
      return () => {
        open.delete(path)
        rmSync(path, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = Number(readFileSync(path, 'utf8'))
    // In a container the next process has the number of the one that was killed.
    if (holder === process.pid ? open.has(path) : isRunning(holder))
      throw new Error(
        `Process ${holder} has this journal open, says ${path}. If it is another program, remove that file.`,
      )
    rmSync(path, { force: true })
  }
}

/** The locks that this process holds. */
const open = new Set<string>()

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A new file is only there after a power cut when its folder was written too. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
