// Signed checkpoints that somebody saved outside the database: only these show that the whole database went back, or has another
// history.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../../formats/text/error-text.ts'
import { dataDir } from '../../core/config/folders.ts'
import { readCheckpoint, type Checkpoint } from '../../formats/log/checkpoint.ts'
import { readOrigin } from '../../formats/log/origin.ts'
import { parsePrevious, type PreviousLog } from '../../formats/log/previous.ts'
import { beginsWith, type ReadTiles } from '../../formats/log/tiles.ts'
import { readIfThere } from '../../core/files/read-if-there.ts'
import { sha256 } from '../../store/sha256.ts'
import type { OpenedLog } from '../../store/tables/log-state.ts'
import { tileReader } from '../../store/tables/log-tiles.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { LogKeyNotGiven } from '../../formats/verifier/log-trust.ts'
import { CannotCheck } from '../cannot-check.ts'
import type { Env } from '../database.ts'
import type { Finding } from '../fsck/check.ts'
import { LogFault, type LogSource } from '../fsck/log-source.ts'
import type { CheckpointOpener } from './trust.ts'

export interface SavedCheckpoint {
  /** The file. */
  readonly from: string
  readonly note: string
  readonly origin: string
  /** False for the one in DATA_DIR: the folder may be that of another service. */
  readonly mustBeOurs: boolean
}

/**
 * The checkpoint that a service keeps in DATA_DIR, if there is one, and those in files.
 * @throws CannotCheck that names the file which is no checkpoint
 */
export function readSaved(env: Env, files: readonly string[]): SavedCheckpoint[] {
  const kept = join(dataDir(env), 'log-checkpoint')
  const note = readIfThere(kept)
  return [
    ...(note === undefined ? [] : [{ ...parsed(kept, note), mustBeOurs: false }]),
    ...files.map((file) => ({ ...parsed(file), mustBeOurs: true })),
  ]
}

/**
 * Compares a copy of a log, already checked in itself, with a saved checkpoint.
 * @throws LogFault where the copy does not begin with the entries of that checkpoint
 * @throws CannotCheck where the file is no checkpoint of this log, or the trusted signers have not signed it, and LogKeyNotGiven
 */
export async function compareSaved(
  source: LogSource,
  { file, origin, open }: { readonly file: string; readonly origin: string; readonly open: CheckpointOpener },
): Promise<void> {
  const saved = parsed(file)
  if (saved.origin !== origin)
    throw new CannotCheck(`${file} is a checkpoint of ${saved.origin}, and the copy is of ${origin}.`)
  const { size, root } = opened({ ...saved, open })
  if (size > source.size)
    throw new LogFault(file, `it is signed at size ${size}, and the copy has ${source.size} entries`)
  const readTiles: ReadTiles = (tiles) => Promise.all(tiles.map((tile) => source.tile(tile)))
  if (!(await beginsWith({ size: source.size, readTiles }, { size, root }, sha256)))
    throw new LogFault(file, `the copy contradicts it at size ${size}: entries were changed or replaced`)
}

function parsed(from: string, given?: string): Omit<SavedCheckpoint, 'mustBeOurs'> {
  try {
    const note = given ?? readFileSync(from, 'utf8')
    return { from, note, origin: readCheckpoint(note).origin }
  } catch (error) {
    throw new CannotCheck(`${from} is no checkpoint of a log: ${errorText(error)}.`)
  }
}

/**
 * Compares the logs of the database with a saved checkpoint.
 * @returns what is wrong; nothing where the statement of a reopened log discloses it
 * @throws CannotCheck where it is of another service, or the trusted signers have not signed it, and LogKeyNotGiven
 */
export async function savedProblems(
  sql: Sql,
  {
    saved: { from, note, origin, mustBeOurs },
    logs,
    open,
  }: {
    readonly saved: SavedCheckpoint
    readonly logs: readonly OpenedLog[]
    readonly open: CheckpointOpener
  },
): Promise<Finding[]> {
  const name = nameIn(logs[0]?.origin)
  if (nameIn(origin) !== name) {
    if (!mustBeOurs) return []
    throw new CannotCheck(`${from} is a checkpoint of ${origin}, and the database has no log of that name.`)
  }
  const { size, root } = opened({ from, note, open })
  const at = logs.findIndex((one) => one.origin === origin)
  const problem = await problemOf(
    sql,
    { from, size, root },
    logs[at],
    parsePrevious(logs[at + 1]?.previous ?? null),
  )
  return problem === undefined ? [] : [{ table: 'log', key: origin, problem }]
}

async function problemOf(
  sql: Sql,
  { from, size, root }: { readonly from: string; readonly size: number; readonly root: Uint8Array },
  log: OpenedLog | undefined,
  statement: PreviousLog | undefined,
): Promise<string | undefined> {
  if (log === undefined)
    return `is not in the database, and ${from} is a signed checkpoint of it: the database is older`
  if (size > log.size) {
    const known = readStated(statement?.checkpoint)
    if (known?.origin === log.origin && known.size >= size) return undefined
    return `has ${log.size} entries in the database, and ${from} is a signed checkpoint of ${size}: the database is older`
  }
  const stored = { size: log.size, readTiles: tileReader(sql, log.log) }
  if (await beginsWith(stored, { size, root }, sha256)) return undefined
  const contradiction = readStated(statement?.contradiction)
  if (contradiction !== undefined && contradiction.size <= size) return undefined
  return `contradicts the signed checkpoint ${from} at size ${size}: entries were changed or replaced`
}

const readStated = (note: string | null | undefined) => (note ? readCheckpoint(note) : undefined)
const nameIn = (origin = '') => readOrigin(origin)?.name

/** Witnesses need not have cosigned it. */
function opened({
  from,
  note,
  open,
}: Pick<SavedCheckpoint, 'from' | 'note'> & { readonly open: CheckpointOpener }): Checkpoint {
  try {
    return open(note, { quorum: false })
  } catch (error) {
    if (error instanceof LogKeyNotGiven) throw error
    throw new CannotCheck(`${from} is no signed checkpoint: ${errorText(error)}.`)
  }
}
