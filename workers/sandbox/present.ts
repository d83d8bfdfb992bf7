// Values of signals that a policy verifies in the database: a caller may look at them before it executes (decisions §9, §12). Nothing is locked,
// so an execution may find another value; nothing outside is asked.
import type { ThreadContext } from '../context.ts'
import { checksOf } from '../execute/prove/prove.ts'
import type { Accepted } from '../execute/validate/validate.ts'
import type { LoadedPolicy } from '../policies.ts'
import { verifierOf } from '../verifiers/index.ts'
import type { SignalValue } from '../verifiers/verifier.ts'

/** A transaction under a policy that verifies state. */
export interface Stateful extends Accepted {
  readonly version: LoadedPolicy
}

/** By signal. */
export type PresentState = Readonly<
  Record<string, { readonly value: boolean | number | null; readonly by: string }>
>

/** @throws Error where the database is away */
export async function readPresent(
  item: Stateful,
  { now, ...thread }: ThreadContext & { readonly now: Date },
): Promise<PresentState> {
  const decision = { decisionId: thread.newId(), policyContentHash: item.version.contentHash }
  const found: Record<string, PresentState[string]> = {}
  const before = new Map<string, SignalValue>()
  for (const { declared: _, ...one } of checksOf(item, { decision, now })) {
    const verifier = verifierOf(one.verifier)
    if (verifier.when === 'before the claim') continue
    // As if it were left out: an approval that is declared false would not be looked for.
    const read = await verifier.read({ ...one, declared: undefined }, { ...thread, sql: thread.pool, before })
    before.set(one.signal, read)
    found[one.signal] = { value: read.value, by: one.verifier.by }
  }
  return found
}
