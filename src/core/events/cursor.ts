// The cursor of the feed: a place in a log, in an opaque form.
import { sha256 } from '../../store/sha256.ts'
import type { FeedPlace } from '../../store/tables/log-events.ts'

const MARK_BYTES = 4
const LOG_BYTES = 4
const INDEX_BYTES = 6
const BYTES = MARK_BYTES + LOG_BYTES + INDEX_BYTES

/** A cursor as it was read; its owner is known only when its log is read. */
interface ReadCursor extends FeedPlace {
  readonly mark: string
}

/** The mark tells one service's cursors from another's. @param salt salt of its first log */
export function cursorMark(salt: Uint8Array): string {
  return Buffer.from(sha256(salt)).toString('hex', 0, MARK_BYTES)
}

export function cursorText({ mark, log, index }: ReadCursor): string {
  const bytes = Buffer.alloc(BYTES)
  bytes.write(mark, 0, 'hex')
  bytes.writeUInt32BE(log, MARK_BYTES)
  bytes.writeUIntBE(index, MARK_BYTES + LOG_BYTES, INDEX_BYTES)
  return bytes.toString('base64url')
}

/**
 * Whether a cursor stands after events that the other cursor does not stand after.
 * @param other a cursor of the same service; null: before the first event
 */
export function isLater(cursor: string, other: string | null): boolean {
  const [one, than] = [readCursor(cursor), other === null ? { log: 1, index: 0 } : readCursor(other)]
  if (one === undefined || than === undefined) throw new Error('this is no cursor')
  return one.log > than.log || (one.log === than.log && one.index > than.index)
}

/** Undefined if the text is not a cursor. */
export function readCursor(text: string): ReadCursor | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== BYTES || bytes.toString('base64url') !== text) return undefined
  const log = bytes.readUInt32BE(MARK_BYTES)
  if (log === 0 || log > 0x7fffffff) return undefined
  return {
    mark: bytes.toString('hex', 0, MARK_BYTES),
    log,
    index: bytes.readUIntBE(MARK_BYTES + LOG_BYTES, INDEX_BYTES),
  }
}
