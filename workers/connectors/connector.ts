// The interface of a connector: its arguments, and the three ways a call can end (decisions §8).
import type { Canonical, Json } from '../../src/formats/json/canonical.ts'

export interface Connector {
  readonly connectorId: string
  readonly connectorVersion: string
  /** Where it goes, without secrets: it becomes evidence. */
  readonly endpoint: string
  readonly actions: readonly string[]
  /** After this time the outcome is unknown, whatever comes later. */
  readonly timeoutMs: number
  /** Carries the action out, at most once. A rejection is an unknown outcome. */
  readonly call: (order: Order) => Promise<ConnectorOutcome>
}

/** The call that a connector makes. */
export interface Order {
  readonly businessTransactionId: string
  /** The execution authorization that releases it: one authorization, one call. */
  readonly authorizationId: string
  /** When that authorization expires, ISO 8601: it releases nothing afterwards. */
  readonly authorizedUntil: string
  readonly action: string
  readonly target: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** The same parameters, canonical. */
  readonly parametersText: Canonical
  /** The policy that approved it, and the hash of that version's content. */
  readonly policy: { readonly name: string; readonly version: string; readonly contentHash: string }
  /** approverIds whose approvals stand behind it; none where the policy asks for none. */
  readonly approvedBy: readonly string[]
  /** Aborted when the outcome is no longer waited for. */
  readonly signal: AbortSignal
}

/** How a call ended: the three outcomes of decisions §8. */
export type ConnectorOutcome =
  | { readonly kind: 'completed'; readonly result: Json }
  | {
      readonly kind: 'failed'
      readonly reason: string
      /** It tells nothing about the target: the other side was not reached, is rate limited, or refused our credential. */
      readonly targetUnknown?: true
    }
  | { readonly kind: 'unknown'; readonly cause: string }
