// Nonces for proofs of possession (RFC 9449 §9): a proof cannot be made before the service has given out its nonce.
import { randomBytes } from 'node:crypto'

/** The nonces that all instances accept. Both functions reject when the store cannot be reached. */
export interface NonceStore {
  /** Remembers a nonce for `NONCE_MS`. */
  readonly remember: (nonce: string) => Promise<void>
  /** @returns for how many more milliseconds a nonce is accepted; 0 for an unknown nonce */
  readonly leftMs: (nonce: string) => Promise<number>
}

export interface Nonces {
  /** The nonce that the next proof should have; rejects as the store does. */
  readonly current: () => Promise<string>
  /** Whether any instance has given out this nonce recently; rejects as the store does. */
  readonly accepts: (nonce: unknown) => Promise<boolean>
}

/** Twice as long as an instance gives a nonce out, so that the proof that follows a reply is still accepted. */
export const NONCE_MS = 120_000
const GIVEN_OUT_MS = NONCE_MS / 2
const NONCE = /^[\w-]{22}$/
/** Maximum of known expiries, so that only the first proof with a nonce asks the store: a few of each instance. */
const KNOWN_MAX = 100

export function openNonces(store: NonceStore, nowMs: () => number): Nonces {
  /** Expiry of each nonce, oldest first. */
  const known = new Map<string, number>()
  let newest = { nonce: '', untilMs: -Infinity }
  let making: Promise<string> | undefined

  function note(nonce: string, untilMs: number): void {
    if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value!)
    known.set(nonce, untilMs)
  }

  async function make(): Promise<string> {
    const startedMs = nowMs()
    const nonce = randomBytes(16).toString('base64url')
    await store.remember(nonce)
    newest = { nonce, untilMs: startedMs + GIVEN_OUT_MS }
    note(nonce, startedMs + NONCE_MS)
    return nonce
  }

  return {
    async current() {
      if (nowMs() < newest.untilMs) return newest.nonce
      making ??= make().finally(() => (making = undefined))
      return making
    },
    async accepts(nonce) {
      if (typeof nonce !== 'string' || !NONCE.test(nonce)) return false
      const untilMs = known.get(nonce)
      if (untilMs !== undefined) return nowMs() < untilMs
      const leftMs = await store.leftMs(nonce)
      if (leftMs > 0) note(nonce, nowMs() + leftMs)
      return leftMs > 0
    },
  }
}
