// The inputs of the stages that follow from nothing else: the clock, ids, nonces and chance. With equal inputs they make the same bytes.
import { randomFillSync, randomInt, randomUUID } from 'node:crypto'

export interface Fresh {
  readonly clock: () => Date
  /** A UUID of version 4 (RFC 9562 §5.4). */
  readonly newId: () => string
  /** 128 random bits, base64url without padding. None is handed out twice. */
  readonly newNonce: () => string
  /** One of `count` at random: from 0 to below it. */
  readonly pick: (count: number) => number
}

const NONCE_BYTES = 16

/** Nonces are drawn for many at a time: a call of the generator costs more than its bits. */
export function openFresh(): Fresh {
  const randomness = Buffer.alloc(256 * NONCE_BYTES)
  let used = randomness.length
  return {
    clock: () => new Date(),
    newId: () => randomUUID(),
    pick: (count) => randomInt(count),
    newNonce() {
      if (used === randomness.length) {
        randomFillSync(randomness)
        used = 0
      }
      return randomness.toString('base64url', used, (used += NONCE_BYTES))
    },
  }
}
