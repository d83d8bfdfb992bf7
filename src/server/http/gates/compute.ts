// Budgets of thread time (decisions §12 "fairness"): the time that all routes but POST /execute may cost one caller or client address. The row
// of a thread's operation (src/core/operations/) names the budget that it is charged to.
import type { Failure } from '../../../core/errors/errors.ts'
import type { ThreadReply } from '../../../core/threads/thread-messages.ts'
import { operations, type Operation, type Cost, type Price } from '../../../core/operations/index.ts'
import type { Meter } from '../../dispatch/replies.ts'
import { isAddress } from './client.ts'
import { bounds } from './index.ts'
import {
  openBudgets,
  refusalBy,
  type Limit,
  type LimitVerdict,
} from '../../../core/concurrency/rate-limit.ts'

/** The budget that a request is charged to, with what is left of it. */
export interface Funds {
  readonly budget: Limit
  readonly verdict: LimitVerdict
}

export interface Compute {
  /** The budget of a client (`RouteRequest.client`), and whether any of it is left. */
  readonly look: (cost: Cost, client: string) => Funds
  /** Charges a reply's time on the main thread. A reply without a body has no bytes; a kept document is not rendered. */
  readonly chargeReply: (
    cost: Cost,
    client: string,
    reply: { readonly bytes: number; readonly isRendered: boolean },
  ) => void
  /** Charges a body that is read and thrown away. */
  readonly chargeBody: (cost: Cost, client: string, bytes: number) => void
  /** The meter of the lanes. */
  readonly meter: Meter
}

/** Main-thread time to read and render a reply: measured 22 ms for 3.8 MiB and 7 ms for 0.4 MiB, on a machine busy with other work. */
const RENDER_MS = 1
const MS_PER_BYTE = 5 / (1024 * 1024)
/** Time to read a body and hand it to a thread: a body of 1 MB held executions up by 10 to 30 ms. */
export const READ_MS_PER_BYTE = 20 / (1024 * 1024)

/** @param msPerMinute thread time of one caller: RATE_LIMIT_COMPUTE_MS_PER_MINUTE */
export function openCompute(msPerMinute: number): Compute {
  const budgets = openBudgets()
  const openMsPerMinute = Math.max(1, Math.floor(msPerMinute / bounds.addressBudgetShare))
  const budgetOf = (name: Cost, client: string): Limit => ({
    name,
    perMinute: isAddress(client) ? openMsPerMinute : msPerMinute,
  })

  function look(cost: Cost, client: string) {
    const budget = budgetOf(cost, client)
    return { budget, verdict: budgets.look(budget, client, performance.now()) }
  }

  const charge = (cost: Cost, client: string, costMs: number) =>
    budgets.charge(budgetOf(cost, client), client, costMs, performance.now())

  function refused(operation: Operation, client: string): Failure | undefined {
    const { price } = operations[operation]
    if (!isBudget(price)) return undefined
    const { budget, verdict } = look(price, client)
    return verdict.allowed ? undefined : refusalBy(budget, verdict)
  }

  return {
    look,
    chargeReply(cost, client, { bytes, isRendered }) {
      charge(cost, client, (isRendered ? RENDER_MS : 0) + bytes * MS_PER_BYTE)
    },
    chargeBody(cost, client, bytes) {
      charge(cost, client, bytes * READ_MS_PER_BYTE)
    },
    meter: {
      refused,
      charge(operation, { client, bytes }, { costMs, status }: ThreadReply) {
        const { price } = operations[operation]
        // A provider with a valid signature must send its deliveries: a budget would only make it repeat them.
        if (!isBudget(price) || (operation === 'receive-webhook' && status !== 401)) return
        charge(price, client, bytes * READ_MS_PER_BYTE + costMs)
      },
    },
  }
}

function isBudget(price: Price): price is Cost {
  return price === 'compute' || price === 'administration'
}
