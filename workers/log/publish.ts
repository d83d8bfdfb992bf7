// Signs the checkpoints of the log: the tree that ends with the newest heads entry, after it was read again from the database and compared
// with everything that was signed before.
import type { Pool } from 'pg'
import type { Checkpoint } from '../../src/formats/log/checkpoint.ts'
import { DamagedLog } from '../../src/formats/log/damaged.ts'
import { signCheckpoint, type LogKeys } from '../../src/core/signing/log-keys.ts'
import { latestCheckpoint, publishCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { lockOpenLog } from '../../src/store/tables/log-state.ts'
import { inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import { readStored, whyBehind, whyForked, type Guard } from './guard.ts'
import { assertStoredTree } from './stored-tree.ts'

/** A log that does not grow has its last checkpoint signed again, so that its time says that the log is alive. */
export const REPUBLISH_EVERY_MS = 600_000

interface PublishWith {
  readonly pool: Pool
  readonly keys: LogKeys
  readonly guard: Guard
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

/**
 * Publishes the next checkpoint, or the last one again where that is due.
 * @throws DamagedLog where anything stored of the log has changed: nothing is signed, and the log must be frozen
 */
export async function publish({ pool, keys, guard, nowMs }: PublishWith): Promise<void> {
  await inTransaction(pool, sign)

  async function sign(sql: Transaction): Promise<void> {
    const state = await lockOpenLog(sql)
    if (state === undefined) return
    const { log, origin, checkpointTree, frontier } = state
    const { size, root } = checkpointTree
    const last = await latestCheckpoint(sql, log)
    const publishedAtMs = nowMs()
    const isNew = size > (last?.size ?? 0)
    if (root === undefined || !(isNew || isOld(last, publishedAtMs))) return
    // The time in a signature never goes back: a clock that is behind the last signer's waits until it is not.
    if (last !== undefined && publishedAtMs < last.publishedAtMs) return
    const seen = guard.seen()
    const behind = whyBehind({ log, origin, checkpointSize: size }, seen)
    if (behind !== undefined) throw new DamagedLog(behind)
    const stored = last && readStored(last, origin)
    await assertStoredTree(sql, state, stored)
    // The stored tree starts with the last published checkpoint. If that is also the newest one seen here, no fork check is needed.
    const forked = isSame(seen, stored)
      ? undefined
      : await whyForked(sql, { log, origin, size: frontier.size }, seen)
    if (forked !== undefined) throw new DamagedLog(forked)
    const timeSeconds = Math.floor(publishedAtMs / 1000)
    const note = await signCheckpoint(keys, { origin, size, root, timeSeconds })
    // Before anybody else can see it: if the database loses a signed checkpoint, it is still known here.
    guard.keep(note)
    sql.runLast(publishCheckpoint({ log, size, note, publishedAtMs }))
  }
}

function isSame(seen: Checkpoint | undefined, stored: Checkpoint | undefined): boolean {
  if (seen === undefined || stored === undefined) return false
  return (
    seen.origin === stored.origin && seen.size === stored.size && Buffer.compare(seen.root, stored.root) === 0
  )
}

function isOld(last: { readonly publishedAtMs: number } | undefined, nowMs: number): boolean {
  return last !== undefined && nowMs - last.publishedAtMs >= REPUBLISH_EVERY_MS
}
