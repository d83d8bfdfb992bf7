// countersign log export: a copy of the whole log, in the files that C2SP tlog-tiles names. Anybody's tools can read and check them.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText } from '../../formats/text/error-text.ts'
import { readCheckpoint, type Checkpoint } from '../../formats/log/checkpoint.ts'
import { readOrigin } from '../../formats/log/origin.ts'
import {
  consistencyProof,
  decodeBundle,
  HASH_BYTES,
  TILE_WIDTH,
  tilePath,
  widthOf,
} from '../../formats/log/tiles.ts'
import { assertConsistent } from '../../formats/merkle/consistency.ts'
import { printable } from '../../formats/text/printable.ts'
import { sha256 } from '../../store/sha256.ts'
import { replaceWholeFile } from '../../core/files/whole-file.ts'
import { CannotCheck, sayCannotCheck } from '../cannot-check.ts'
import { logPath } from './other-logs.ts'
import { codeOf } from '../verify/inputs.ts'
import { openProgress } from '../fsck/progress.ts'
import type { Given } from '../command.ts'
import { get, type ServiceAt } from '../service.ts'
import type { exportLog as spec } from './commands.ts'

/** More would only fill the service's queue. */
const REQUESTS_AT_ONCE = 8
/** 256 entries of 65,535 bytes, each after its length. */
const BUNDLE_MAX_BYTES = TILE_WIDTH * 65_537
const CHECKPOINT_MAX_BYTES = 1024 * 1024
const DESCRIPTION_MAX_BYTES = 1024 * 1024

/**
 * Prints a summary of the export, or one sentence: the service's answer, or why the folder cannot be used.
 * @returns the exit code: 0 the folder is the newest checkpoint, 1 the service contradicts the folder, 2 it could not be exported
 */
export async function exportCommand(request: Given<typeof spec>): Promise<0 | 1 | 2> {
  const progress = openProgress(process.stderr, { unit: 'files' })
  const onFile = (done: number, total: number) => progress.show({ table: 'log', rows: done, about: total })
  try {
    const { origin, size, fetched, kept } = await exportLog(request, onFile)
    progress.clear()
    console.log(
      printable(`${origin}: ${size} entries, ${fetched} files downloaded, ${kept} were there already.`),
    )
    return 0
  } catch (error) {
    progress.clear()
    if (!(error instanceof Contradiction)) return sayCannotCheck(error)
    console.error(printable(`countersign: ${error.message}`))
    return 1
  }
}

/** The checkpoint of the service is not a later one of the log in the folder. */
class Contradiction extends Error {}

const CHECK_FIRST =
  'Run `countersign log fsck` on the folder first: a damaged copy contradicts every service. If no problem is found, keep the folder'

interface Exported {
  readonly origin: string
  /** The number of entries. */
  readonly size: number
  /** Tiles and bundles. */
  readonly fetched: number
  readonly kept: number
}

/**
 * Brings a folder to the newest checkpoint. The checkpoint is written when everything under it is there, so that a folder whose export was
 * interrupted is still the copy that it was. The only check is that the log continues the folder's copy, because two signed checkpoints of
 * different histories are evidence that must not be overwritten; everything else is for `countersign log fsck`.
 * @throws Contradiction where the folder holds more of the log, or another history
 * @throws Error where the service answers otherwise than it must, and where the folder holds another log or no checkpoint
 */
export async function exportLog(
  {
    to: folder,
    number,
    ...service
  }: ServiceAt & { readonly to: string; readonly number?: number | undefined },
  onFile: (done: number, total: number) => void = () => undefined,
): Promise<Exported> {
  const checkpointFile = join(folder, 'checkpoint')
  const before = existsSync(checkpointFile) ? readKept(checkpointFile) : undefined
  const { body: description } = await get(service, '/.well-known/countersign-log', {
    maxBytes: DESCRIPTION_MAX_BYTES,
  })
  const newest = `${logPath(number)}/checkpoint`
  const { body: note } = await get(service, newest, { maxBytes: CHECKPOINT_MAX_BYTES })
  const checkpoint = checkpointOf(note, `${newest}: the service's answer is no checkpoint of a log`)
  refuseOther(folder, before, checkpoint)
  // By its number: another log may be opened meanwhile.
  const prefix = logPath(readOrigin(checkpoint.origin)?.number)

  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new CannotCheck(`${folder} is no folder that can be written (${codeOf(error)}).`)
  }
  const total = fileCount(checkpoint.size)
  let [fetched, kept] = [0, 0]
  const files = filesOf(checkpoint.size)
  async function fetchNext(): Promise<void> {
    for (const file of files) {
      if (existsSync(join(folder, file.path))) kept++
      else {
        await writeFile(join(folder, file.path), await fetchFile(service, file, prefix))
        fetched++
      }
      onFile(fetched + kept, total)
    }
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, fetchNext))
  await requireContinued(folder, { before, checkpoint, note })
  replaceWholeFile(join(folder, 'log.json'), description, 0o644)
  replaceWholeFile(checkpointFile, note, 0o644)
  if (before !== undefined) await removePartial(folder, before.size, checkpoint.size)
  return { origin: checkpoint.origin, size: checkpoint.size, fetched, kept }
}

function readKept(file: string): Checkpoint {
  return checkpointOf(readFileSync(file), `${file} is no checkpoint of a log, so export to another folder`)
}

/** @throws Error that says `otherwise`, and why */
function checkpointOf(note: Buffer, otherwise: string): Checkpoint {
  try {
    return readCheckpoint(note)
  } catch (error) {
    throw new Error(`${otherwise}: ${errorText(error)}.`, { cause: error })
  }
}

function refuseOther(folder: string, before: Checkpoint | undefined, now: Checkpoint): void {
  if (before === undefined) return
  if (before.origin !== now.origin)
    throw new Error(
      `${folder} holds the log ${before.origin}, and the service has ${now.origin}: export that to another folder. ` +
        `To compare the copy with the log that was closed, give --number ${before.origin.split('/').at(-1)}.`,
    )
  if (before.size > now.size)
    throw new Contradiction(
      `${folder} holds ${before.size} entries of ${before.origin}, and the service has a checkpoint of ${now.size}: ` +
        `the log has lost entries, or the service is behind. ${CHECK_FIRST}: its checkpoint is the evidence.`,
    )
}

/** Keeps the checkpoint of the service beside that of the folder where it does not continue it. */
async function requireContinued(
  folder: string,
  {
    before,
    checkpoint,
    note,
  }: { readonly before: Checkpoint | undefined; readonly checkpoint: Checkpoint; readonly note: Uint8Array },
): Promise<void> {
  if (before === undefined || before.size === 0) return
  const [from, to] = [before.size, checkpoint.size]
  const path = await consistencyProof(
    { from, to },
    (tiles) => Promise.all(tiles.map((tile) => readFile(join(folder, `tile/${tilePath(tile)}`)))),
    sha256,
  )
  try {
    assertConsistent(
      { start: 0, end: from, size: to, partRoot: before.root, root: checkpoint.root, path },
      sha256,
    )
  } catch (error) {
    replaceWholeFile(join(folder, 'checkpoint.contradicting'), note, 0o644)
    throw new Contradiction(
      `${folder} holds ${from} entries of ${before.origin}, and the service has another history: its checkpoint of ${to} entries does not ` +
        `continue that of the folder. ${CHECK_FIRST}: its checkpoint and the file checkpoint.contradicting are the evidence.`,
      { cause: error },
    )
  }
}

interface LogFile {
  readonly level: number | 'entries'
  readonly width: number
  /** The path in the folder, and at the service after the path of the log. */
  readonly path: string
}

/** The tiles and bundles of a tree, in the order of the entries within each level. */
export function* filesOf(size: number): Generator<LogFile> {
  for (const level of levelsOf(size)) {
    for (let n = 0; ; n++) {
      const width = widthOf({ level: level === 'entries' ? 0 : level, n }, size)
      if (width === 0) break
      yield { level, width, path: `tile/${tilePath({ level, n, width })}` }
    }
  }
}

function levelsOf(size: number): (number | 'entries')[] {
  const levels: (number | 'entries')[] = size === 0 ? [] : ['entries']
  for (let level = 0; TILE_WIDTH ** level <= size; level++) levels.push(level)
  return levels
}

function fileCount(size: number): number {
  const inLevels = levelsOf(size).map((level) =>
    Math.ceil(Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 0 : level)) / TILE_WIDTH),
  )
  return inLevels.reduce((sum, count) => sum + count, 0)
}

async function fetchFile(
  service: ServiceAt,
  { level, width, path }: LogFile,
  prefix: string,
): Promise<Uint8Array> {
  const maxBytes = level === 'entries' ? BUNDLE_MAX_BYTES : width * HASH_BYTES
  const { body } = await get(service, `${prefix}/${path}`, { maxBytes })
  const found = level === 'entries' ? decodeBundle(body).length : body.length / HASH_BYTES
  // Every later export would keep a wrong file.
  if (found === width) return body
  throw new Error(
    `${prefix}/${path}: the service answers with ${found} hashes or entries in place of ${width}`,
  )
}

/** A crash leaves the whole file or none under its name. */
async function writeFile(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${randomUUID()}.draft`
  try {
    const file = await open(draft, 'wx', 0o644)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Removes the files that only the checkpoint before needed: tiles and bundles that were not full. */
async function removePartial(folder: string, before: number, size: number): Promise<void> {
  for (const level of levelsOf(before)) {
    const atLevel = level === 'entries' ? 0 : level
    const n = Math.floor(before / TILE_WIDTH ** (atLevel + 1))
    const width = widthOf({ level: atLevel, n }, before)
    if (width > 0 && width !== widthOf({ level: atLevel, n }, size))
      await rm(join(folder, 'tile', tilePath({ level, n, width })), { force: true })
  }
}
