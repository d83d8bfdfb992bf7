// The first entry of a log, of kind `previous`, refers to the log before it: it is the SHA-256 of this statement. Browser-safe.
import { canonicalize } from '../json/canonical.ts'

export interface PreviousLog {
  /** The origin of the log that begins with this statement. */
  readonly origin: string
  /** RFC 3339. */
  readonly reopenedAt: string
  readonly previous: {
    readonly origin: string
    /** Size and root of the tree in the database when the log was reopened; a null root could not be read. */
    readonly size: number
    /** Base64. */
    readonly root: string | null
    /** The reason why the log was frozen. */
    readonly frozen: string
    /** Entries after this size have no valid signed checkpoint: they are logged again, as `late-…`. */
    readonly signedSize: number
  }
  /** The newest known signed checkpoint, wherever it was kept; null when there is none. */
  readonly checkpoint: string | null
  /** A signed checkpoint that contradicts the beginning of the stored tree: two histories exist, or the tree is damaged. Null: none is known. */
  readonly contradiction: string | null
  /** Minimum number of signed entries that are no longer in the database. */
  readonly entriesLost: number
}

/** @returns undefined when there is none, or it is no such text: then its log does not begin with its hash */
export function parsePrevious(text: string | null): PreviousLog | undefined {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as PreviousLog
  } catch {
    return undefined
  }
}

/** The text that is hashed and stored. */
export function previousText(statement: PreviousLog): string {
  return canonicalize({ format: 'countersign-previous-log/1', ...statement })
}
