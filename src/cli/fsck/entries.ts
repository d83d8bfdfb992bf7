// Compares a row that is in the log with its entry there: it has the same kind, and the hash of these bytes.
import { errorText } from '../../formats/text/error-text.ts'
import { isEntryOf, type LogEntry } from '../../formats/log/entry.ts'
import type { Artifact, ArtifactRow, ArtifactTable } from '../../store/tables/artifacts.ts'
import { LogFault } from './log-source.ts'
import { isDamage } from './damage.ts'
import type { Tools } from './tools.ts'

/** An entry of a log. */
export interface Place {
  readonly log: number
  /** From 0. */
  readonly index: number
}

type LogTools = Pick<Tools, 'logs' | 'readEntry'>

/**
 * @param row.columns those of the table, and maybe others
 * @returns the row's artifact with its entry; or a text that says what is wrong with the row, as `Finding.problem`
 * @throws Error where one of them cannot be read, see `cannotCompare`
 */
export async function entryOf(
  table: ArtifactTable,
  { columns, place }: { readonly columns: ArtifactRow; readonly place: Place },
  { logs, readEntry }: LogTools,
): Promise<{ artifact: Artifact; entry: LogEntry; late: boolean } | string> {
  const artifact = artifactOf(table, columns)
  const entry = await readEntry(place)
  const match = isEntryOf(entry, artifact)
  if (match === undefined)
    return `is not what ${named(place, logs)} says: that is of another kind, or of other bytes`
  return { artifact, entry, late: match.late }
}

/** The newest artifact of the row, whose place the row keeps. @throws Error where it cannot be read */
export function artifactOf(table: ArtifactTable, columns: ArtifactRow): Artifact {
  const artifact = table.artifacts(columns).at(-1)
  if (artifact === undefined) throw new Error('it has no bytes')
  return artifact
}

export function named({ log, index }: Place, logs: Tools['logs']): string {
  return `entry ${index} of ${logs.get(log)?.origin ?? `log ${log}`}`
}

/**
 * @returns what is wrong with a row whose comparison threw, as `Finding.problem`
 * @throws the error itself where it is damage to read around (damage.ts)
 */
export function cannotCompare(error: unknown): string {
  if (isDamage(error)) throw error
  if (error instanceof LogFault) return `has no readable entry: ${error.message}`
  return `cannot be compared with its entry: ${errorText(error)}`
}
