// A log speaks of the one before it in its first entry, of kind `previous`: the SHA-256 of this statement. Browser-safe.
import { canonicalize } from '../json/canonical.ts'

export interface PreviousLog {
  /** The origin of the log that begins with this statement. */
  readonly origin: string
  /** RFC 3339. */
  readonly reopenedAt: string
  readonly previous: {
    readonly origin: string
    /** Size and root of the tree as the database had it when the log was reopened; a root of null cannot be read. */
    readonly size: number
    /** Base64. */
    readonly root: string | null
    /** Why it was frozen. */
    readonly frozen: string
    /** Entries behind this size have no signed checkpoint that counts: they are logged again, as `late-…`. */
    readonly signedSize: number
  }
  /** The newest signed checkpoint that is known, wherever it was kept; null where none is. */
  readonly checkpoint: string | null
  /** A signed checkpoint that the tree in the database does not begin with: there are two histories, or it is damaged. Null: none is known. */
  readonly contradiction: string | null
  /** Signed entries that are not in the database any more, at least. */
  readonly entriesLost: number
}

/** @returns undefined where there is none, or where it is no such text: then its log does not begin with its hash */
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
