// countersign log reopen: starts the next log of a database whose log is frozen. Its first entry discloses how the one before it ended.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseError, type Pool } from 'pg'
import { errorText } from '../../formats/text/error-text.ts'
import { dataDir, signingKeyDir } from '../../core/config/folders.ts'
import { openCheckpoint, type Checkpoint } from '../../formats/log/checkpoint.ts'
import { rootOf, splitHashes } from '../../formats/log/frontier.ts'
import { readOrigin } from '../../formats/log/origin.ts'
import { previousText, type PreviousLog } from '../../formats/log/previous.ts'
import { beginsWith } from '../../formats/log/tiles.ts'
import { printable } from '../../formats/text/printable.ts'
import { readIfThere } from '../../core/files/read-if-there.ts'
import { logVerifierKey, noteCrypto, readLogKeys, type LogKeys } from '../../core/signing/log-keys.ts'
import { sha256, sha256Hex } from '../../store/sha256.ts'
import { latestCheckpoint } from '../../store/tables/log-checkpoints.ts'
import { anyLost, loseUnsigned } from '../../store/tables/log-batches.ts'
import { insertLog, lockNewestLog, type NewestLog } from '../../store/tables/log-state.ts'
import { tileReader } from '../../store/tables/log-tiles.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import { loggedText } from './backfill.ts'
import type { Given } from '../command.ts'
import { onDatabase, type Env } from '../database.ts'
import type { reopen as spec } from './commands.ts'
import { describedGap } from './gap.ts'
import { logAgain } from './log-again.ts'

/** A checkpoint that some key of the log signed. */
interface SignedCheckpoint extends Checkpoint {
  /** The number in its origin. */
  readonly log: number
  readonly note: string
}

/**
 * Opens the next log, and queues for it the entries that the frozen one had taken and never signed.
 * The checkpoint in DATA_DIR is used beside those that are given.
 * @returns the exit code: 1 where something could not be logged again
 * @throws Error where the newest log is not frozen, and where a file is no checkpoint of it
 */
export async function reopen(env: Env, { checkpoint: checkpoints = [] }: Given<typeof spec>): Promise<0 | 1> {
  const keys = readLogKeys(signingKeyDir(env))
  return onDatabase(env, async (pool) => {
    const statement = await openNext(pool, { keys, checkpoints, kept: join(dataDir(env), 'log-checkpoint') })
    for (const line of described(statement)) console.log(printable(line))
    let unreadable = 0
    const logged = await logAgain(pool, {
      which: 'lost',
      // Perhaps no service is running that empties the queue.
      paced: false,
      onUnreadable(sentence) {
        unreadable++
        console.error(printable(sentence))
      },
    })
    if (logged.entries.size > 0 || logged.busy > 0) console.log(loggedText(logged, statement.origin))
    console.log(
      'Running services write to it within a second, and their receipts name it: none needs a restart.',
    )
    return unreadable === 0 && logged.busy === 0 ? 0 : 1
  })
}

interface Known {
  readonly keys: LogKeys
  readonly checkpoints: readonly string[]
  /** The file of this machine's instance, if there is one. */
  readonly kept: string
}

/** Runs in one transaction. @returns the statement that the new log begins with */
function openNext(pool: Pool, { keys, checkpoints, kept }: Known): Promise<PreviousLog> {
  return inTransaction(pool, async (sql) => {
    const last = await lockNewestLog(sql)
    if (last === undefined) throw new Error('The database has no evidence log.')
    const { log, origin, frozen } = last
    if (frozen === null && (await anyLost(sql)))
      throw new Error(
        `${origin} is open already, but entries that the log before it never signed are still to be logged again. To log them: countersign log backfill`,
      )
    if (frozen === null)
      throw new Error(`${origin} is not frozen: it is written, and a second log would only hide it.`)
    const name = readOrigin(origin)?.name ?? origin
    const signers = { log, name, keys }
    const stored = await newestStored(sql, signers)
    const seen = keptElsewhere({ checkpoints, kept, name, keys })
    if (stored !== undefined && seen.length === 0)
      throw new Error(
        `There is no checkpoint of ${name} in ${kept}, and none is given by --checkpoint: only such a one shows what the database has lost, and the ` +
          'statement must say it. Set DATA_DIR to that of an instance, or give a checkpoint that was saved elsewhere.',
      )
    const known = [...(stored === undefined ? [] : [stored]), ...seen].toSorted(
      (a, b) => b.log - a.log || b.size - a.size,
    )
    const [newest] = known
    const contradictions = []
    for (const one of known) if (await contradicts(sql, one, last)) contradictions.push(one)
    const least = contradictions.at(-1)
    // The common history ends below every checkpoint that contradicts the stored tree.
    let signed = least === undefined ? stored : await newestStored(sql, { ...signers, below: least.size })
    while (signed !== undefined && (await contradicts(sql, signed, last)))
      signed = await newestStored(sql, { ...signers, below: signed.size })
    const signedSize = signed?.size ?? 0
    // The database may have gone back to before a log that others have seen: its number is used up.
    const next = Math.max(log, newest?.log ?? 0) + 1
    const statement: PreviousLog = {
      origin: `${name}/log/${next}`,
      reopenedAt: new Date().toISOString(),
      previous: { origin, size: last.size, root: rootAsStored(last), frozen, signedSize },
      checkpoint: newest?.note ?? null,
      contradiction: least?.note ?? null,
      entriesLost: newest === undefined ? 0 : Math.max(newest.size - (newest.log === log ? last.size : 0), 0),
    }
    await loseUnsigned(sql, { log, signedSize })
    await insertLog(sql, { log: next, origin: statement.origin, previous: previousText(statement) })
    return statement
  })
}

/** The checkpoints in files. One of another log in DATA_DIR is left alone: it belongs to another database. */
function keptElsewhere({
  checkpoints,
  kept,
  name,
  keys,
}: Known & { readonly name: string }): SignedCheckpoint[] {
  const ofInstance = readIfThere(kept)
  return [
    ...(ofInstance?.startsWith(`${name}/log/`) === true
      ? [readSigned(ofInstance, { from: kept, name, keys })]
      : []),
    ...checkpoints.map((file) => readSigned(readFileSync(file, 'utf8'), { from: file, name, keys })),
  ]
}

/** The newest checkpoint in the database that the log signed: a damaged one is passed over. */
async function newestStored(
  sql: Sql,
  {
    log,
    below = null,
    ...signers
  }: { readonly log: number; readonly below?: number | null; readonly name: string; readonly keys: LogKeys },
): Promise<SignedCheckpoint | undefined> {
  for (let before = below; ;) {
    const row = await latestCheckpoint(sql, log, { below: before })
    if (row === undefined) return undefined
    try {
      const signed = readSigned(row.note, { from: 'the database', ...signers })
      if (signed.log === log && signed.size === row.size) return signed
    } catch {
      // It is damaged: the statement then names an older one.
    }
    before = row.size
  }
}

/** @throws Error that names the file */
function readSigned(
  note: string,
  { from, name, keys }: { readonly from: string; readonly name: string; readonly keys: LogKeys },
): SignedCheckpoint {
  const origin = note.slice(0, Math.max(note.indexOf('\n'), 0))
  const parts = readOrigin(origin)
  if (parts?.name !== name)
    throw new Error(`${from} is no checkpoint of ${name}: its first line is '${origin.slice(0, 100)}'.`)
  try {
    const logs = keys.publicKeys.map((key) => logVerifierKey(origin, key))
    const { size, root } = openCheckpoint(note, { logs, witnesses: [] }, noteCrypto)
    return { origin, size, root, log: parts.number, note }
  } catch (cause) {
    throw new Error(`${from} is no signed checkpoint: ${errorText(cause)}.`, { cause })
  }
}

function rootAsStored({ size, peaks }: NewestLog): string | null {
  if (peaks.length % 32 !== 0) return null
  return Buffer.from(rootOf({ size, peaks: splitHashes(peaks) }, sha256)).toString('base64')
}

/** Whether the stored tree does not begin with that of the checkpoint. A larger checkpoint may be its continuation. */
async function contradicts(sql: Sql, known: SignedCheckpoint, { log, size }: NewestLog): Promise<boolean> {
  if (known.log !== log || known.size > size) return false
  try {
    return !(await beginsWith({ size, readTiles: tileReader(sql, log) }, known, sha256))
  } catch (error) {
    // A statement that failed has failed the transaction; missing or unreadable parts mean that the tree is another one now.
    if (error instanceof DatabaseError) throw error
    return true
  }
}

function described(statement: PreviousLog): string[] {
  return [
    ...describedGap(statement),
    `${statement.origin} is open. Its first entry is the SHA-256 of a statement that says so: ${sha256Hex(previousText(statement))}`,
  ]
}
