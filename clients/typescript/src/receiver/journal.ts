// The journal keeps begun releases and their answers, by authorizationId, in a file that survives a crash of the process and a loss of power.
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
 * The memory of a receiver. `openJournal` keeps it in a file of one process. Receivers that share a capability share a table instead, whose
 * `authorizationId` is unique.
 */
export interface Journal {
  /** Finds the entry of a release; undefined: never begun. */
  readonly find: (authorizationId: string) => Entry | undefined | Promise<Entry | undefined>
  /**
   * Stores, before the effect, that the effect may happen. A rejection or an exception means that nothing may be done.
   * @returns once the entry would survive a loss of power; false where the release was begun before, by any receiver
   */
  readonly begin: (release: Release) => boolean | Promise<boolean>
  /** Stores the answer before it is sent. */
  readonly end: (authorizationId: string, answer: object) => void | Promise<void>
}

export interface Entry {
  /** Undefined only where an older journal did not keep the release. */
  readonly release?: Release | undefined
  /** Undefined: begun, and not ended as far as is known. */
  readonly answer?: object | undefined
}

export interface FileJournal extends Journal {
  /** Leaves the file to another process. */
  readonly close: () => void
}

/** The service asks for the outcome of a release for days at most, and a release is worth nothing two minutes after it was issued. */
const KEPT_DAYS = 90

const toDisk = promisify(fdatasync)

/**
 * A journal in a file: a line for a begun release and a line for its answer, each on the disk before it counts. Lines that are written at the same
 * time wait for the disk together. Opening drops releases that were answered more than 90 days ago; releases that never ended stay.
 * @param path created if it does not exist; its folder must exist
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
    /** The write to disk that is under way, and the next write, which includes the lines that are written until it begins. */
    let syncing: Promise<void> | undefined
    let next: Promise<void> | undefined

    const synced = (): Promise<void> =>
      (next ??= (syncing ?? Promise.resolve()).then(() => {
        next = undefined
        syncing = toDisk(file).finally(() => (syncing = undefined))
        return syncing
      }))

    const append = async (authorizationId: string, entry: Entry): Promise<void> => {
      // The file descriptor may belong to another file by now.
      if (isClosed) throw new Error(`${path} is closed.`)
      if (hasFailed) throw new Error(`${path} could not be written before: open the journal again.`)
      const line = Buffer.from(`${lineOf(authorizationId, entry)}\n`)
      try {
        if (writeSync(file, line) !== line.length)
          throw new Error(`${path} was written in part: the disk is full.`)
        await synced()
      } catch (error) {
        // Nothing may be written behind half a line. Opening the journal again cuts it off.
        hasFailed = true
        throw error
      }
    }
    return {
      find: (authorizationId) => entries.get(authorizationId),
      async begin(release) {
        const { authorizationId } = release
        if (entries.has(authorizationId)) return false
        // Set at once, so that a second `begin` of the release in the meantime returns false.
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
  // An incomplete last line was being written when the power failed: the effect or the reply that waits for it did not happen.
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

/** Removes old releases from the entries and from the file. */
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
 * Locks the journal: two processes that append to one file would each do what the other has done. The file of the lock holds the number of its
 * process. A lock that a killed process left is taken over.
 * @returns a function that removes the lock
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
    // In a container the next process has the number of the killed process.
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

/** A new file survives a loss of power only where its folder was written too. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
