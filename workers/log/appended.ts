// The entries of one append, joined as in a bundle, with their hashes.
import { sha256 } from '../../src/store/sha256.ts'

const LENGTH_BYTES = 2
const BUFFER_BYTES = 64 * 1024

/** One buffer for all of them: an allocation for each would cost as much as its hash. */
export class AppendedEntries {
  private bytes = Buffer.allocUnsafe(BUFFER_BYTES)
  /** The end of each entry, and 0 before the first. */
  private readonly ends = [0]
  readonly leaves: Uint8Array[] = []

  get count(): number {
    return this.leaves.length
  }

  /** @param text ASCII */
  add(text: string): void {
    const at = this.ends.at(-1)!
    const start = at + LENGTH_BYTES
    const end = start + text.length
    this.reserve(end)
    const { bytes } = this
    bytes.write(text, start, 'latin1')
    // A leaf is hashed with a 0 before it, which stands here until the length is written.
    bytes[start - 1] = 0
    this.leaves.push(sha256(bytes.subarray(start - 1, end)))
    bytes.writeUInt16BE(text.length, at)
    this.ends.push(end)
  }

  /** The bytes of some of them, in the buffer of all. */
  between(first: number, end: number): Buffer {
    return this.bytes.subarray(this.ends[first], this.ends[end])
  }

  private reserve(end: number): void {
    if (end <= this.bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(end, 2 * this.bytes.length))
    this.bytes.copy(grown)
    this.bytes = grown
  }
}
