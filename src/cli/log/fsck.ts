// countersign log fsck: checks a copy of a log from its bytes alone. It needs no service, no database and no network.
import type { OpenedCheckpoint } from '../../formats/log/checkpoint.ts'
import type { LogEntry } from '../../formats/log/entry.ts'
import { printable } from '../../formats/text/printable.ts'
import { toBase64 } from '../../formats/base64.ts'
import { LogKeyNotGiven } from '../../formats/verifier/log-trust.ts'
import { sayCannotCheck } from '../cannot-check.ts'
import type { Given } from '../command.ts'
import { openProgress } from '../fsck/progress.ts'
import { checkLog, type CheckedLog } from './check-log.ts'
import type { fsck as spec } from './commands.ts'
import { openFolder } from './folder.ts'
import { gapOfCopy, NOTHING_ELSE } from './gap.ts'
import { compareSaved } from './saved.ts'
import { LogFault } from '../fsck/log-source.ts'
import { checkpointOpener } from './trust.ts'

/**
 * Prints its findings.
 * @returns the exit code: 0 all of it holds, 1 something is wrong, 2 not everything could be checked
 */
export async function fsckCommand({
  folder,
  log: trust,
  checkpoint: saved = [],
}: Given<typeof spec>): Promise<0 | 1 | 2> {
  const progress = openProgress(process.stderr, { unit: 'entries' })
  try {
    const open = checkpointOpener(trust)
    const source = openFolder(folder)
    let statement: string | undefined
    const onEntry = ({ kind, hash }: LogEntry, index: number) => {
      if (kind === 'previous') statement = hash
      if (index % 10_000 === 0) progress.show({ table: 'log', rows: index, about: source.size })
    }
    const checked = await checkLog({ source, open, onEntry })
    const { origin } = checked.checkpoint
    for (const file of saved) await compareSaved(source, { file, origin, open })
    progress.clear()
    for (const line of described(checked)) console.log(printable(line))
    const gap = statement === undefined ? [] : gapOfCopy(folder, statement)
    for (const line of gap) console.log(printable(line))
    console.log(gap.length === 0 ? 'No problems.' : NOTHING_ELSE)
    return 0
  } catch (error) {
    progress.clear()
    if (!(error instanceof LogFault)) return sayCannotCheck(error)
    if (error.cause instanceof LogKeyNotGiven) return sayCannotCheck(error.cause)
    console.log(printable(`${error.message}.`))
    return 1
  }
}

export function described({ checkpoint, checkpoints, streams }: CheckedLog): string[] {
  const { origin, size, root, signedBy, cosignedBy } = checkpoint
  return [
    `${origin}: ${size} entries in ${streams} streams under ${checkpoints === 1 ? 'one checkpoint' : `${checkpoints} checkpoints`}${signedAt(checkpoint)}`,
    `Root hash: ${toBase64(root)}`,
    `Signed by: ${signedBy.map(({ key }) => `${key.keyId} (${key.type})`).join(', ')}`,
    ...(cosignedBy.length === 0 ? [] : [`Cosigned by: ${cosignedBy.map(({ key }) => key.name).join(', ')}`]),
  ]
}

/** For the end of a line; empty where no signature says when it was made. */
export function signedAt({ signedBy }: OpenedCheckpoint): string {
  const times = signedBy.flatMap(({ timeSeconds }) => timeSeconds ?? [])
  return times.length === 0 ? '' : `, signed at ${new Date(Math.max(...times) * 1000).toISOString()}`
}
