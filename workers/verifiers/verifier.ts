// The interface of a state verifier, which knows the value of a declared signal independently (decisions §6 "verify", §7).
import type { Json } from '../../src/formats/json/canonical.ts'
import type { Failure } from '../../src/core/errors/errors.ts'
import type { PublicKey, SigningKey } from '../../src/core/signing/keys.ts'
import type { SignalVerifier } from '../../src/formats/schemas/policy.ts'
import type { AdvisoryLock, Sql } from '../../src/store/postgres/sql.ts'
import type { Approvers } from '../approvers.ts'
import type { Connectors } from '../connectors/index.ts'
import type { PersonsInEffect } from '../persons.ts'
import type { Fresh } from '../fresh.ts'
import type { LoadedPolicy } from '../policies.ts'
import type { Accepted } from '../execute/validate/validate.ts'

/** One signal of one execution, as it was declared, or left out, and is to be verified. */
export interface SignalCheck<V extends SignalVerifier = SignalVerifier> {
  readonly signal: string
  /** Undefined: left out, so the verified value is filled in. */
  readonly declared: boolean | number | undefined
  readonly type: 'boolean' | 'number'
  readonly verifier: V
  readonly accepted: Accepted
  readonly decision: { readonly decisionId: string; readonly policyContentHash: string }
  readonly version: LoadedPolicy
  readonly now: Date
}

export interface SignalValue {
  /** Null: could not be verified, which no declared value equals. */
  readonly value: boolean | number | null
  /** The evidence beside the value in the decision's verifiedSignals, by which it can be checked from the record alone. */
  readonly evidence?: Readonly<Record<string, Json>>
  /** Approvals that this execution uses up if it is claimed. */
  readonly consumes?: readonly ConsumedApproval[]
}

export interface ConsumedApproval {
  readonly approvalId: string
  readonly approverId: string
  /** The hash of the approval request that it is for, which is used up with it. */
  readonly requestHash?: string
}

export interface VerifyWith extends Fresh {
  readonly connectors: Connectors
  readonly approvers: Approvers
  readonly persons: PersonsInEffect
  readonly key: SigningKey
  readonly findKey: (keyId: string) => PublicKey | undefined
}

export type StateVerifier<V extends SignalVerifier> =
  | {
      /** Outside of the database: read before the claim, and may take as long as its connector does. */
      readonly when: 'before the claim'
      /** A Failure where the state cannot be read: only a definite answer can make a mismatch. */
      readonly observe: (check: SignalCheck<V>, tools: VerifyWith) => Promise<SignalValue | Failure>
    }
  | {
      /** Our own tables: read in the transaction that claims the execution. */
      readonly when: 'with the claim'
      /** Locks on the state that no other execution may read or change from the reading until the claim has committed. */
      readonly locks: (check: SignalCheck<V>) => AdvisoryLock[]
      readonly read: (
        check: SignalCheck<V>,
        tools: VerifyWith & {
          sql: Sql
          /** Earlier verifications of the same execution, by signal. */
          before: ReadonlyMap<string, SignalValue>
        },
      ) => Promise<SignalValue>
    }
