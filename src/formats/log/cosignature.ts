// C2SP tlog-cosignature: the message that a cosigner signs, and the time in its signature. The log's own ML-DSA-44 line is of this form.
import { concatBytes } from '../bytes.ts'

/** The tree, or a part of it, that a cosigner states. */
interface CosignedTree {
  /** The key name of the cosigner, 1 to 255 bytes of UTF-8. */
  readonly cosigner: string
  /** Seconds since 1970; 0 states no time. */
  readonly timeSeconds: number
  /** The origin line of the log, 1 to 255 bytes of UTF-8. */
  readonly origin: string
  /** The index of the first leaf: 0 for a checkpoint. */
  readonly start: number
  /** The index of the last leaf plus one; for a checkpoint its size. */
  readonly end: number
  /** 32 bytes. */
  readonly hash: Uint8Array
}

const LABEL = 'subtree/v1\n\0'

/**
 * The message of an ML-DSA-44 cosignature (type 0x06), the structure `cosigned_message`.
 * @throws Error that names the member that the structure cannot hold
 */
export function cosignedMessage(tree: CosignedTree): Uint8Array {
  const { cosigner, timeSeconds, origin, start, end, hash } = tree
  if (start !== 0 && timeSeconds !== 0)
    throw new Error('a cosignature of a later part of the tree has no time')
  if (hash.length !== 32) throw new Error(`the hash of a cosignature has ${hash.length} bytes, not 32`)
  return concatBytes(
    new TextEncoder().encode(LABEL),
    lengthAndName(cosigner, 'cosigner'),
    uint64(timeSeconds, 'time'),
    lengthAndName(origin, 'origin'),
    uint64(start, 'start'),
    uint64(end, 'end'),
    hash,
  )
}

/**
 * The message of an Ed25519 cosignature (type 0x04).
 * @param checkpointText the text of the note, including extension lines and its last newline
 */
export function ed25519CosignedMessage(timeSeconds: number, checkpointText: string): Uint8Array {
  const time = wholeNumber(timeSeconds, 'time')
  return new TextEncoder().encode(`cosignature/v1\ntime ${time}\n${checkpointText}`)
}

/** The structure `timestamped_signature`: 8 bytes of time, then the signature. */
export function timestampedSignature(timeSeconds: number, signature: Uint8Array): Uint8Array {
  return concatBytes(uint64(timeSeconds, 'time'), signature)
}

/** @throws Error when there are no 8 bytes of time, or the time is after the year 285 million, which a number cannot hold exactly */
export function readTimestampedSignature(bytes: Uint8Array): { timeSeconds: number; signature: Uint8Array } {
  if (bytes.length < 8) throw new Error('the cosignature is shorter than its time')
  const time = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0)
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the time of the cosignature is too great')
  return { timeSeconds: Number(time), signature: bytes.subarray(8) }
}

function lengthAndName(name: string, what: string): Uint8Array {
  const bytes = new TextEncoder().encode(name)
  if (bytes.length < 1 || bytes.length > 255)
    throw new Error(`the ${what} of a cosignature has ${bytes.length} bytes; it may have 1 to 255`)
  return Uint8Array.of(bytes.length, ...bytes)
}

function uint64(value: number, what: string): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(wholeNumber(value, what)))
  return bytes
}

function wholeNumber(value: number, what: string): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`the ${what} of a cosignature is not an integer of 0 or more`)
  return value
}
