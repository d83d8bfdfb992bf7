// Derives the whole log anew from the bytes of its entries: the tree, the numbers of the streams and their heads. Its memory grows with
// the streams, not with the entries.
import { errorText } from '../../formats/text/error-text.ts'
import type { OpenedCheckpoint } from '../../formats/log/checkpoint.ts'
import { parseEntry, type LogEntry } from '../../formats/log/entry.ts'
import { decodeBundle, TILE_WIDTH, tilePath, widthOf } from '../../formats/log/tiles.ts'
import { LogFault, type LogSource } from '../fsck/log-source.ts'
import { StreamCheck } from './stream-check.ts'
import { TreeCheck } from './tree-check.ts'

export interface CheckedLog {
  /** The newest checkpoint. */
  readonly checkpoint: OpenedCheckpoint
  /** How many checkpoints there are. */
  readonly checkpoints: number
  readonly streams: number
}

/**
 * Checks everything that the log itself shows.
 * @param options.open reads a checkpoint and checks who signed it; it throws where the checkpoint is invalid
 * @param options.onEntry called for each valid entry, in their order
 * @throws LogFault with the first place that is wrong, and what the source throws
 */
export async function checkLog({
  source,
  open,
  onEntry = () => undefined,
}: {
  readonly source: LogSource
  readonly open: (note: string) => OpenedCheckpoint
  readonly onEntry?: (entry: LogEntry, index: number) => void
}): Promise<CheckedLog> {
  const tree = new TreeCheck(source)
  const streams = new StreamCheck()
  const checkpoints = source.checkpoints()
  let [newest, count] = [undefined as OpenedCheckpoint | undefined, 0]

  async function nextCheckpoint(): Promise<OpenedCheckpoint | undefined> {
    const { value, done } = await checkpoints.next()
    if (done === true) return undefined
    count++
    return (newest = opened(value, open))
  }

  let next = await nextCheckpoint()
  for (let n = 0; n * TILE_WIDTH < source.size; n++) {
    const { place, entries } = await readBundle(source, n)
    await tree.startTile(n, entries.length)
    for (const [i, bytes] of entries.entries()) {
      const index = n * TILE_WIDTH + i
      const entry = readEntry(bytes, { place, index })
      if (entry.kind === 'previous' && index > 0)
        throw new LogFault(place, `entry ${index} is of kind previous, which only the first can be`)
      tree.append(bytes)
      streams.count(entry, { place, index })
      onEntry(entry, index)
      if (next?.size !== index + 1) continue
      if (entry.kind !== 'heads')
        throw new LogFault(place, `entry ${index} ends a checkpoint, and is of kind ${entry.kind}, not heads`)
      tree.compareRoot(next)
      next = await nextCheckpoint()
    }
    await tree.endTile()
  }
  await tree.compareEdge()
  if (newest?.size !== source.size || next !== undefined)
    throw new LogFault('checkpoint', `its size is not ${source.size}, or not greater than the one before`)
  return { checkpoint: newest, checkpoints: count, streams: streams.size }
}

function opened(note: string, open: (note: string) => OpenedCheckpoint): OpenedCheckpoint {
  try {
    return open(note)
  } catch (error) {
    throw new LogFault('checkpoint', errorText(error), { cause: error })
  }
}

async function readBundle(source: LogSource, n: number): Promise<{ place: string; entries: Uint8Array[] }> {
  const width = widthOf({ level: 0, n }, source.size)
  const place = `tile/${tilePath({ level: 'entries', n, width })}`
  const bytes = await source.bundle(n, width)
  let entries: Uint8Array[]
  try {
    entries = decodeBundle(bytes)
  } catch (error) {
    throw new LogFault(place, errorText(error))
  }
  if (entries.length === width) return { place, entries }
  throw new LogFault(place, `it has ${entries.length} entries in place of ${width}`)
}

function readEntry(bytes: Uint8Array, { place, index }: { place: string; index: number }): LogEntry {
  try {
    return parseEntry(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'))
  } catch (error) {
    throw new LogFault(place, `entry ${index}: ${errorText(error)}`)
  }
}
