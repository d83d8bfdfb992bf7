// The streams of a log: each is numbered from 1 without gaps, and the entries of kind heads say how far each was.
import type { LogEntry, StreamName } from '../../formats/log/entry.ts'
import { Heads } from '../../formats/log/heads.ts'
import { sha256 } from '../../store/sha256.ts'
import { LogFault } from '../fsck/log-source.ts'

export class StreamCheck {
  private readonly heads = new Heads([], sha256)
  private readonly names = new Map<string, StreamName>()

  /** How many streams there are. */
  get size(): number {
    return this.names.size
  }

  count({ kind, hash, streams }: LogEntry, { place, index }: { place: string; index: number }): void {
    if (kind === 'heads' && hash !== Buffer.from(this.heads.root()).toString('hex'))
      throw new LogFault(place, `entry ${index} is not the root of the streams' heads before it`)
    for (const { stream, tag, n } of streams) {
      const name = this.names.get(tag)
      if (name === undefined) this.names.set(tag, stream)
      else if (name !== stream)
        throw new LogFault(
          place,
          `entry ${index} has ${tag} as a ${stream}, and entries before it as a ${name}`,
        )
      const last = this.heads.get(tag)?.n ?? 0
      if (n !== last + 1)
        throw new LogFault(
          place,
          `entry ${index} is number ${n} of ${stream}=${tag}, and the one before is ${last}`,
        )
      this.heads.set({ tag, n, lastIndex: index })
    }
  }
}
