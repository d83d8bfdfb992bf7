// Chance that is the same for the same seed: mulberry32, which is no source of secrets.

export interface Chance {
  /** At least 0, less than 1. */
  readonly next: () => number
  /** A whole number, both ends included. */
  readonly whole: (from: number, to: number) => number
  readonly pick: <T>(of: readonly T[]) => T
  /** Whether something of this probability happens. */
  readonly happens: (probability: number) => boolean
  /** A sum of money around a median, now and then far above it. */
  readonly money: (median: number, spread?: number) => number
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    whole,
    pick: (of) => of[whole(0, of.length - 1)]!,
    happens: (probability) => next() < probability,
    money(median, spread = 0.7) {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
      return Math.max(1, Math.round(median * Math.exp(spread * normal) * 100) / 100)
    },
  }
}
