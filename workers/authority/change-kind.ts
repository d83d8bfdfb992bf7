// The differences between the kinds of maker/checker changes (decisions §7); everything else is the same code for all of them.
import type { Json } from '../../src/formats/json/canonical.ts'
import type { Failure } from '../../src/core/errors/errors.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { Act } from '../../src/store/tables/authority.ts'
import type { PathParams } from '../../src/core/threads/thread-messages.ts'

/** A proposal for a change. */
export interface Proposal<P = Json> {
  /** The name of the thing that it changes; at most one change of it is open. */
  readonly target: string
  /** The proposed content, as a checker is shown it and as `changeHash` covers it. */
  readonly proposed: P
}

/** A proposal as its body was read. */
interface ReadProposal<P> extends Proposal<P> {
  readonly reason: string
  /** Warnings that follow from the body alone. They are found before the transaction, which PostgreSQL ends while a busy thread computes. */
  readonly warnings?: readonly string[]
  /** The signature of the proposer, of any shape; undefined: none was sent. */
  readonly stepUpAuthorization?: unknown
}

/** The advice that a checker is shown beside it. */
export interface Advice {
  readonly warnings: readonly string[]
  readonly diff?: Json
}

/** `P` is the proposal as JSON. */
export interface ChangeKind<P> {
  /** Reads a proposal's body. Pure. A failure is a 400 that names the field. */
  readonly read: (body: Uint8Array, params: PathParams) => ReadProposal<P> | Failure
  /** Whether the proposal is allowed by everything outside the database: checked when it is proposed and again when it is approved. */
  readonly check?: (proposed: P) => Promise<Failure | undefined>
  /** Why the current state does not allow it, a 409: checked in the transaction that stores it, and first in the one that approves it. */
  readonly contradiction?: (proposed: P, sql: Sql) => Promise<Failure | undefined>
  /**
   * Compares the proposal with the current state, in the transaction that stores it, and again each time that somebody looks at the open change:
   * then in no transaction and without `warnings`, so it takes no locks and writes nothing. Returns `proposed` in full, where the body left
   * something to the current state, or a 409 where it contradicts it.
   */
  readonly examine: (
    proposal: ReadProposal<P> & { readonly proposedBy: string },
    sql: Sql,
  ) => Promise<(Advice & { proposed: P }) | Failure>
  /**
   * Puts it in effect, in the transaction that approves it. The statement decides, and not an earlier read, since another change may be applied
   * in between. Returns a 409 where the state has changed since the proposal.
   */
  readonly apply: (change: AppliedChange<P>, sql: Sql) => Promise<Failure | undefined>
}

/** The human who approved it and the time, in addition to its content. */
interface AppliedChange<P> extends Proposal<P>, Act {}
