// Counts for "now" in the console's Overview: executions of this instance in each of the last seconds. In memory; a reply updates a few numbers.

/** One complete second. */
export interface Second {
  /** Unix time. */
  readonly at: number
  readonly executed: number
  /** Refused by a policy, or answered with another 4xx. */
  readonly refused: number
  readonly failed: number
  /** Median over all requests of the second, from head to reply. 0 where there was none. */
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface LiveCounts {
  /** Called for each reply of POST /execute and POST /transactions. @param refused whether a policy refused it, whatever its status */
  readonly replied: (status: number, ms: number, refused: boolean) => void
  /** Complete seconds later than `after`, oldest first. @param after Unix time */
  readonly since: (after: number) => readonly Second[]
}

const SECONDS_KEPT = 120
/** Eight buckets per doubling, from an eighth of a millisecond up: a percentile is accurate to 9 %. */
const BUCKETS_PER_DOUBLING = 8
const BUCKETS = 192
const LEAST_MS = 0.125

export function openLiveCounts(): LiveCounts {
  let at = thisSecond()
  const kept: Second[] = []
  const times = new Uint32Array(BUCKETS)
  let [executed, refused, failed] = [0, 0, 0]

  function turn(): void {
    const now = thisSecond()
    if (now === at) return
    const all = executed + refused + failed
    kept.push({
      at,
      executed,
      refused,
      failed,
      p50Ms: quantile(times, all, 0.5),
      p99Ms: quantile(times, all, 0.99),
    })
    // Seconds without requests count as zero. When the clock has gone back, the list starts again.
    for (let quiet = Math.max(at + 1, now - SECONDS_KEPT); quiet < now; quiet += 1)
      kept.push({ at: quiet, executed: 0, refused: 0, failed: 0, p50Ms: 0, p99Ms: 0 })
    if (now < at) kept.length = 0
    kept.splice(0, kept.length - SECONDS_KEPT)
    times.fill(0)
    executed = refused = failed = 0
    at = now
  }

  return {
    replied(status, ms, isRefused) {
      turn()
      const bucket = Math.floor(Math.log2(Math.max(ms, LEAST_MS) / LEAST_MS) * BUCKETS_PER_DOUBLING)
      times[Math.min(bucket, BUCKETS - 1)]! += 1
      if (status < 300) executed += 1
      else if (isRefused || status < 500) refused += 1
      else failed += 1
    },
    since(after) {
      turn()
      return kept.filter((second) => second.at > after)
    },
  }
}

/** Seconds since 1970. */
function thisSecond(): number {
  return Math.floor(Date.now() / 1000)
}

/** The upper end of the bucket in which the quantile lies. */
function quantile(times: Uint32Array, count: number, share: number): number {
  if (count === 0) return 0
  let seen = 0
  for (const [bucket, inIt] of times.entries()) {
    seen += inIt
    if (seen >= count * share) return round(LEAST_MS * 2 ** ((bucket + 1) / BUCKETS_PER_DOUBLING))
  }
  return 0
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
