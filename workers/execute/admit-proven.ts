// The fourth step for policies that verify state: locks, reads, decides and claims one execution in one transaction, so that nothing
// that it rests on can be used or changed in between. Off the common road: one transaction each, a few at a time.
import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import type { Pool } from 'pg'
import { Failure, failures } from '../../src/errors.ts'
import type { PublicKey } from '../../src/signing/keys.ts'
import { consumeApprovals } from '../../src/tables/approvals.ts'
import { failureOf, inTransaction, takeLocks, type Sql } from '../../src/tables/sql.ts'
import { claimAll } from './admit.ts'
import type { Authorized, Unproven } from './decide.ts'
import { gate } from './gate.ts'
import { lockKeys, observe, prove, type Observed, type ProveWith } from './prove.ts'
import { Answered } from './road.ts'

/** Executions that wait for a lock hold a connection each: the batches' own are never among these. */
export const PROVEN_AT_ONCE = 2

export type AdmitProven = (item: Unproven) => Promise<Authorized | Answered>

/** Never rejects: everything that goes wrong is an answer, and then nothing was executed. */
export function openAdmitProven(tools: Omit<ProveWith, 'now'> & { pool: Pool }): AdmitProven {
  const { pool, findKey } = tools
  const limit = pLimit(PROVEN_AT_ONCE)

  return async (item) => {
    try {
      const observed = await observe(item, { ...tools, now: new Date() })
      const outcome = await limit(() =>
        inTransaction(pool, (sql) => admitOne(item, observed, { ...tools, sql, findKey })),
      )
      return outcome instanceof Failure ? new Answered(item.request, outcome) : outcome
    } catch (error) {
      return new Answered(item.request, failureOf(error))
    }
  }
}

async function admitOne(
  item: Unproven,
  observed: Observed,
  tools: Omit<ProveWith, 'now'> & { sql: Sql; findKey: (keyId: string) => PublicKey | undefined },
): Promise<Authorized | Failure> {
  const { sql, findKey } = tools
  // A statement of its own: what is read after it is as new as the locks are.
  await takeLocks(sql, lockKeys(observed).map(lockNumber))
  // Not of the batch's start: an approval may have expired while the lock was waited for, and the authorization begins now.
  const now = new Date()
  const { decided, consumes } = await prove(item, observed, { ...tools, now })
  const gated = gate(decided, { findKey, now })
  if (gated instanceof Failure) return gated
  const { businessTransactionId } = item.transaction
  const claimed = await claimAll(sql, [gated], now)
  if (!claimed.has(businessTransactionId)) return failures.duplicateTransaction(businessTransactionId)
  if (gated.outcome !== 'authorized') return gated.failure
  const used = await consumeApprovals(sql, {
    ids: consumes.map(({ approvalId }) => approvalId),
    consumedBy: businessTransactionId,
    consumedAt: now.toISOString(),
  })
  // Cannot be, under the lock; if it is, everything is undone and nothing executed.
  if (used !== consumes.length) throw new Error('an approval was used by another execution')
  return gated
}

/** A 64-bit number, as text. */
function lockNumber(key: string): string {
  return createHash('sha256').update(key).digest().readBigInt64BE().toString()
}
