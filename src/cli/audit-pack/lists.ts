// The lists of the service that a pack keeps, each as a file of lines of evidence, as an export is.
import { open, type FileHandle } from 'node:fs/promises'
import { isObject, type Fields } from '../../formats/json/fields.ts'
import { linesOf, jsonOf, pagesOf, type ServiceAt } from '../service.ts'

export interface Period {
  readonly since: string | undefined
  readonly until: string | undefined
}

/** Whether a time, ISO 8601 in UTC, is of the period: from its start, and before its end. */
export function isWithin(at: string, { since, until }: Period): boolean {
  const ms = Date.parse(at)
  return (since === undefined || ms >= Date.parse(since)) && (until === undefined || ms < Date.parse(until))
}

/**
 * Exports the range of a list.
 * @param to the file that is written; left out: none
 * @param onPiece gets each piece of evidence
 * @throws Error where the export is cut short
 */
export async function exportRange(
  service: ServiceAt,
  { path, since, until, to }: Period & { readonly path: string; readonly to?: string },
  onPiece: (piece: Fields) => void,
): Promise<void> {
  const query = new URLSearchParams({ ...(since && { since }), ...(until && { until }) })
  const file = to === undefined ? undefined : await open(to, 'wx', 0o600)
  try {
    let isWhole = false
    for await (const line of linesOf(service, `${path}?${query}`)) {
      await file?.write(`${line}\n`)
      const piece = JSON.parse(line) as Fields
      isWhole = 'exportEnd' in piece
      if (!isWhole) onPiece(piece)
    }
    if (!isWhole) throw new Error(`${path}: the export is cut short. Make the pack again.`)
  } finally {
    await file?.close()
  }
}

/** Every entry of a list that has pages. @param member holds the entries */
export async function* entriesOf(
  service: ServiceAt,
  path: string,
  member: string | undefined,
): AsyncGenerator<Fields> {
  for await (const answer of pagesOf(service, path)) {
    const page = jsonOf(answer)
    const entries = member !== undefined && isObject(page) ? page[member] : page
    if (!Array.isArray(entries)) throw new Error(`${path}: the service answers no list.`)
    for (const entry of entries) if (isObject(entry)) yield entry
  }
}

/** Writes pieces of evidence as an export has them, with the line that says how many they are. */
export async function writeLines(
  to: string,
  kind: string,
  period: Period,
  pieces: readonly object[],
): Promise<void> {
  const file: FileHandle = await open(to, 'wx', 0o600)
  try {
    for (const piece of pieces) await file.write(`${JSON.stringify(piece)}\n`)
    const { since = null, until = null } = period
    const exportEnd = { kind, callerId: null, count: pieces.length, since, until }
    await file.write(`${JSON.stringify({ exportEnd })}\n`)
  } finally {
    await file.close()
  }
}
