// The functions by which a request passes the gates of the table (index.ts): `pass` counts it, `hold` takes a place for it.
import type { Config } from '../../../core/config/config.ts'
import type { Failure } from '../../../core/errors/errors.ts'
import { openBook, type Book } from './book.ts'
import type { Compute, Funds } from './compute.ts'
import { bounds, limits as rows, type LimitName } from './index.ts'
import { limitHeaders, refusalBy, type Limits } from '../../../core/concurrency/rate-limit.ts'
import { openPace, type Pace } from './pace.ts'
import { openReads, type Reads } from './reads.ts'

/** The facts by which a request is counted. */
interface Counted {
  /** The limit of the request's route; undefined: the route has only a budget. */
  readonly limit: LimitName | undefined
  readonly callerId: string | undefined
  readonly address: string
  /** The request's budget, as it was when the request came; undefined: its route has none. */
  readonly funds: Funds | undefined
}

export interface Gates extends Book {
  /**
   * Counts a request against its route's limit, then checks its budget as it was when the request came. Never rejects.
   * @returns the RateLimit fields of limit and budget, or the 429 with its own
   */
  readonly pass: (counted: Counted) => Promise<Readonly<Record<string, string>> | Failure>
  /** Reads and charges budgets. */
  readonly compute: Compute
  readonly pace: Pace
  /** The connections that a client reads by. */
  readonly reads: (client: string) => Reads
}

export function openGates({
  config: { queueRequestsMax, rateLimits },
  limits,
  compute,
  pool,
}: {
  readonly config: Pick<Config, 'queueRequestsMax' | 'rateLimits'>
  readonly limits: Limits
  readonly compute: Compute
  readonly pool: Reads
}): Gates {
  const limitOf = (name: LimitName) => ({ name, perMinute: rows[name].perMinute(rateLimits) })
  return {
    ...openBook(queueRequestsMax),
    compute,
    pace: openPace(),
    reads: openReads(pool, bounds.clientReads),
    async pass({ limit: name, callerId, address, funds }) {
      let fields = {}
      // Without authentication there is no caller to count by: the execute limit is not in effect (interface §8).
      const key = name === 'execute' ? callerId : address
      if (name !== undefined && key !== undefined) {
        const limit = limitOf(name)
        const verdict = await limits.take(limit, key, performance.now())
        if (!verdict.allowed) return refusalBy(limit, verdict)
        fields = limitHeaders(limit, verdict)
      }
      if (funds === undefined) return fields
      const { budget, verdict } = funds
      return verdict.allowed ? limitHeaders(budget, verdict, fields) : refusalBy(budget, verdict, fields)
    },
  }
}
