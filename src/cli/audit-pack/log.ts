// The entries that the evidence log counts: the released executions and the refusals, by their hashes, from checked copies of all logs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { authorization } from '../../formats/artifacts/authorization.ts'
import { refusalRecord } from '../../formats/artifacts/refusal-record.ts'
import { LATE } from '../../formats/log/entry.ts'
import type { PreviousLog } from '../../formats/log/previous.ts'
import { readOrigin } from '../../formats/log/origin.ts'
import { checkLog } from '../log/check-log.ts'
import { exportLog } from '../log/export.ts'
import { openFolder } from '../log/folder.ts'
import { previousOfCopy } from '../log/gap.ts'
import { signedAt } from '../log/fsck.ts'
import { trusting } from '../log/trust.ts'
import type { ServiceAt } from '../service.ts'

/** The kinds of entries of which each execution or refusal has exactly one. */
const COUNTED: ReadonlySet<string> = new Set([authorization.logged.kind, refusalRecord.logged.kind])

interface Entry {
  readonly kind: string
  /** In its log. */
  readonly index: number
  readonly origin: string
}

export interface LoggedHashes {
  /** A sentence about the checkpoint of each log. */
  readonly checkpoints: readonly string[]
  /** The ends of logs that another log follows, where signed entries are lost or contradicted. */
  readonly losses: readonly PreviousLog[]
  /** @returns whether the log has the hash; it counts as found from now on */
  readonly take: (hash: string) => boolean
  /** Entries whose hash was not taken. */
  readonly left: () => readonly (Entry & { readonly hash: string })[]
}

/**
 * Copies every log of the service and checks each copy from its bytes: tree, signatures, and the numbers of every stream.
 * @param folder gets `log`, and `log-<number>` for each log that was closed
 * @throws LogFault where a log does not hold, and Error where it cannot be read
 */
export async function fetchLogs(service: ServiceAt, folder: string): Promise<LoggedHashes> {
  const newest = join(folder, 'log')
  const { origin } = await exportLog({ ...service, to: newest })
  const folders = [newest]
  for (let number = 1; number < (readOrigin(origin)?.number ?? 1); number++) {
    const to = join(folder, `log-${number}`)
    await exportLog({ ...service, to, number })
    folders.unshift(to)
  }
  const entries = new Map<string, Entry>()
  const taken = new Set<string>()
  const checkpoints: string[] = []
  const losses: PreviousLog[] = []
  for (const from of folders) {
    // The keys of every log stand in the description of the newest.
    const open = trusting(readFileSync(join(newest, 'log.json'), 'utf8'))
    const found: [string, Omit<Entry, 'origin'>][] = []
    const { checkpoint, streams } = await checkLog({
      source: openFolder(from),
      open,
      onEntry({ kind: given, hash }, index) {
        const kind = given.startsWith(LATE) ? given.slice(LATE.length) : given
        if (COUNTED.has(kind)) found.push([hash, { kind, index }])
        if (kind !== 'previous') return
        const previous = previousOfCopy(newest, hash)
        if (previous.entriesLost > 0 || previous.contradiction !== null) losses.push(previous)
      },
    })
    for (const [hash, entry] of found) entries.set(hash, { ...entry, origin: checkpoint.origin })
    checkpoints.push(
      `${checkpoint.origin}: ${checkpoint.size} entries, ${streams} streams numbered without a gap${signedAt(checkpoint)}.`,
    )
  }
  return {
    checkpoints,
    losses,
    take(hash) {
      if (!entries.has(hash)) return false
      taken.add(hash)
      return true
    },
    left: () => Array.from(entries).flatMap(([hash, entry]) => (taken.has(hash) ? [] : [{ hash, ...entry }])),
  }
}

/** A sentence for the top of the pack's summary and report, on what a log had lost when the next one was opened. */
export function lossWarning({ previous, reopenedAt, entriesLost, contradiction }: PreviousLog): string {
  const lost = entriesLost > 0 ? [`had lost at least ${entriesLost} signed entries`] : []
  const contradicted = contradiction === null ? [] : ['contradicts a checkpoint that it signed']
  return (
    `Warning: ${previous.origin}, which was followed by another log at ${reopenedAt}, ${[...lost, ...contradicted].join(', and ')}. ` +
    'Evidence that only these entries named cannot be missed here: compare with an older copy of that log, or with receipts that callers hold.'
  )
}
