// What differs between the kinds of maker/checker changes (decisions §7); everything else is the same code for all of them.
import type { Json } from '../../src/core/json/canonical.ts'
import type { Failure } from '../../src/core/errors.ts'
import type { Sql } from '../../src/core/tables/sql.ts'

/** What somebody wants changed. */
export interface Proposal<P = Json> {
  /** What it changes; at most one open change for it. */
  readonly target: string
  /** What it is to become, as a checker is shown it and as `changeHash` covers it. */
  readonly proposed: P
}

/** A proposal as its body was read. */
interface ReadProposal<P> extends Proposal<P> {
  readonly reason: string
  /** What the body alone gives to warn of. Found before the transaction, which PostgreSQL ends while a busy thread computes. */
  readonly warnings?: readonly string[]
}

/** What a checker is shown beside it. */
export interface Advice {
  readonly warnings: readonly string[]
  readonly diff?: Json
}

/** in  P  what is proposed: JSON */
export interface ChangeKind<P> {
  /** A proposal's body. Pure. out  400 that names the field */
  readonly read: (body: Uint8Array, params: Readonly<Record<string, string>>) => ReadProposal<P> | Failure
  /** Whether what is proposed may be at all, beyond the database: asked when it is proposed and again when it is approved. */
  readonly check?: (proposed: P) => Promise<Failure | undefined>
  /**
   * Against what stands, in the transaction that stores the proposal.
   * out  `proposed` in full, where the body left something to what stands; 409 where it contradicts it
   */
  readonly examine: (proposal: ReadProposal<P>, sql: Sql) => Promise<(Advice & { proposed: P }) | Failure>
  /**
   * Puts it in effect, in the transaction that approves it. Asks again what stands, for the sentence that fits; the statement has the
   * last word, since another change may be applied between the two.
   * out  409 where what stands has moved since
   */
  readonly apply: (change: AppliedChange<P>, sql: Sql) => Promise<Failure | undefined>
}

interface AppliedChange<P> extends Proposal<P> {
  readonly changeId: string
  readonly resolvedBy: string
  /** ISO 8601. */
  readonly resolvedAt: string
}
