// Budgets of thread time (decisions §12 "fairness"): what every route beside POST /execute may cost one caller or client address.
import { failures, type Failure } from '../../core/errors.ts'
import type { Operation, ThreadReply } from '../../core/thread-messages.ts'
import type { Meter } from '../dispatch/replies.ts'
import { openBudgets, type Limit, type LimitVerdict } from './limit.ts'

/** A client without a key has this part of what a caller has. */
const OPEN_SHARE = 5

/** Which budget a route is charged to. Governing has one of its own: a human who has simulated much can still revoke. */
export type Cost = 'compute' | 'administration'

export interface Compute {
  /** Whether a client (`RouteRequest.client`) has any of the budget left. */
  readonly look: (cost: Cost, client: string) => { readonly budget: Limit; readonly verdict: LimitVerdict }
  /** Charges a page that was read and rendered on the main thread. `bytes` is the size of its body. */
  readonly chargePage: (cost: Cost, client: string, bytes: number) => void
  /** For the lanes. */
  readonly meter: Meter
}

/** What a page takes of the main thread: measured 22 ms for 3.8 MiB and 7 for 0.4, on a machine that was busy with other work. */
const PAGE_MS = 1
const PAGE_MS_PER_BYTE = 5 / (1024 * 1024)

/** What a lane charges its clients for; what is not here is limited otherwise, or the service's own. */
const COSTS: Partial<Record<Operation, Cost>> = {
  evaluate: 'compute',
  simulate: 'compute',
  'verify-record': 'compute',
  'issue-receipt': 'compute',
  replay: 'compute',
  'prove-complete': 'compute',
  'verify-refusal': 'compute',
  'verify-audit-event': 'compute',
  'deliver-approval': 'compute',
  'receive-webhook': 'compute',
  'propose-change': 'administration',
  'resolve-change': 'administration',
  'resolve-intent': 'administration',
  'finalize-intent': 'administration',
  'process-webhook-again': 'administration',
}

/** @param msPerMinute thread time of one caller: RATE_LIMIT_COMPUTE_MS_PER_MINUTE */
export function openCompute(msPerMinute: number): Compute {
  const budgets = openBudgets()
  const openMsPerMinute = Math.max(1, Math.floor(msPerMinute / OPEN_SHARE))
  const budgetOf = (name: Cost, client: string): Limit => ({
    name,
    perMinute: isAddress(client) ? openMsPerMinute : msPerMinute,
  })

  function look(cost: Cost, client: string) {
    const budget = budgetOf(cost, client)
    return { budget, verdict: budgets.look(budget, client, performance.now()) }
  }

  function refused(operation: Operation, client: string): Failure | undefined {
    const cost = COSTS[operation]
    if (cost === undefined) return undefined
    const { verdict } = look(cost, client)
    return verdict.allowed ? undefined : failures.rateLimited(verdict.retryAfterSeconds)
  }

  return {
    look,
    chargePage(cost, client, bytes) {
      const costMs = PAGE_MS + bytes * PAGE_MS_PER_BYTE
      budgets.charge(budgetOf(cost, client), client, costMs, performance.now())
    },
    meter: {
      refused,
      charge(operation: Operation, client: string, { costMs, status }: ThreadReply) {
        const cost = COSTS[operation]
        // A provider whose signature verifies sends what it must: a budget would only make it send the same again.
        if (cost === undefined || (operation === 'receive-webhook' && status !== 401)) return
        budgets.charge(budgetOf(cost, client), client, costMs, performance.now())
      },
    },
  }
}

/** The client of a request without a caller, for queues, shares and budgets. No callerId has a space. */
export function addressClient(address: string): string {
  return `address ${address}`
}

/** Whether a client has no key. */
export function isAddress(client: string): boolean {
  return client.startsWith('address ')
}
