// What the evidence log counts: the executions that were released and the refusals, by their hashes, from checked copies of every log.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { authorization } from '../../formats/artifacts/authorization.ts'
import { refusalRecord } from '../../formats/artifacts/refusal-record.ts'
import { LATE } from '../../formats/log/entry.ts'
import { readOrigin } from '../../formats/log/origin.ts'
import { checkLog } from '../log/check-log.ts'
import { exportLog } from '../log/export.ts'
import { openFolder } from '../log/folder.ts'
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
      },
    })
    for (const [hash, entry] of found) entries.set(hash, { ...entry, origin: checkpoint.origin })
    checkpoints.push(
      `${checkpoint.origin}: ${checkpoint.size} entries, ${streams} streams numbered without a gap${signedAt(checkpoint)}.`,
    )
  }
  return {
    checkpoints,
    take(hash) {
      if (!entries.has(hash)) return false
      taken.add(hash)
      return true
    },
    left: () => Array.from(entries).flatMap(([hash, entry]) => (taken.has(hash) ? [] : [{ hash, ...entry }])),
  }
}
