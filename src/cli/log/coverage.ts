// Which entries of a log are accounted for, and when checkpoints covered them. One bit for each entry, and two numbers for each checkpoint.
import type { Signer } from '../../formats/log/checkpoint.ts'

/** Entries without an artifact: `heads` are derived again, and `previous` is compared with the statement of its log. */
const DERIVED: ReadonlySet<string> = new Set(['heads', 'previous'])

export class Coverage {
  /** How many entries there are, under the newest checkpoint. */
  readonly size: number
  /** How many entries, from the first, must have something stored for them. */
  private readonly artifacts: number
  private readonly bits: Uint8Array
  /** The entries for which a row is stored. */
  private readonly claimed: Uint8Array
  private readonly sizes: number[] = []
  private readonly timesMs: number[] = []

  constructor({ size, artifacts }: { readonly size: number; readonly artifacts: number }) {
    this.size = size
    this.artifacts = artifacts
    this.bits = new Uint8Array(Math.ceil(size / 8))
    this.claimed = new Uint8Array(Math.ceil(size / 8))
  }

  add({ kind }: { readonly kind: string }, index: number): void {
    if (DERIVED.has(kind)) this.account(index)
  }

  /** A row is stored for the entry. @returns whether it is the first one */
  claim(index: number): boolean {
    this.account(index)
    const bit = 1 << (index & 7)
    const isFirst = index >= this.size || (this.claimed[index >> 3]! & bit) === 0
    if (index < this.size) this.claimed[index >> 3]! |= bit
    return isFirst
  }

  /** An artifact is stored for the entry, or the run of ids that it states. */
  account(index: number): void {
    if (index < this.size) this.bits[index >> 3]! |= 1 << (index & 7)
  }

  /** Call it in ascending order of their sizes. */
  addCheckpoint({
    size,
    signedBy,
  }: {
    readonly size: number
    readonly signedBy: readonly Pick<Signer, 'timeSeconds'>[]
  }): void {
    const [timeSeconds] = signedBy.flatMap((signer) => signer.timeSeconds ?? [])
    if (timeSeconds === undefined) return
    this.sizes.push(size)
    this.timesMs.push(timeSeconds * 1000)
  }

  /** The first `count` entries that are not accounted for. */
  unaccounted(count: number): number[] {
    const found: number[] = []
    for (let index = 0; index < this.artifacts && found.length < count; index++) {
      if (this.bits[index >> 3] === 0xff) index |= 7
      else if ((this.bits[index >> 3]! & (1 << (index & 7))) === 0) found.push(index)
    }
    return found
  }

  /** Whether a checkpoint was signed after `byMs` that does not cover the entry: checkpoints only grow, so none before did either. */
  isLate(index: number, byMs: number): boolean {
    // The last checkpoint that does not cover it.
    let [low, high] = [0, this.sizes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.sizes[middle]! <= index) low = middle + 1
      else high = middle
    }
    return low > 0 && this.timesMs[low - 1]! > byMs
  }
}
