// Builds the Business Transaction of an action: every id and link of interface §2.1, so that a caller states only the work to be done.
import { v4, v5 } from 'uuid'
import type { components } from './schema.ts'

type Schemas = components['schemas']
type SubmittedTransaction = Schemas['SubmittedTransaction']

/** The request names the action, its policy, and the declared signals. */
export interface ExecutionRequest {
  /** The capability, e.g. `sandbox:echo`. */
  readonly action: string
  readonly target: string
  readonly parameters?: SubmittedTransaction['intent']['parameters']
  readonly policy: { readonly name: string; readonly version: string }
  readonly signals?: SubmittedTransaction['signals']
  /**
   * Your own key for the work, e.g. `invoice-4711`: the id is derived from the key and the callerId, so that this caller executes the
   * work at most once, however often it is repeated. Without a key or an id each call is new work.
   */
  readonly key?: string
  /** The id itself, a UUID of version 1 to 5; not together with `key`. See `deterministicId`. */
  readonly businessTransactionId?: string
  /** The principal on whose authority the action is executed. Default: the callerId. */
  readonly principalId?: string
}

const MEMBERS: Readonly<Record<keyof ExecutionRequest, true>> = {
  action: true,
  target: true,
  parameters: true,
  policy: true,
  signals: true,
  key: true,
  businessTransactionId: true,
  principalId: true,
}

/** The namespace of all keys, the same in every client of Countersign. Below it each caller has a namespace of its own. */
const KEYS = '2d5e3a52-0f5c-4f0e-9a0c-5c1f4a3f7b61'

/** A whole transaction has no `action` of its own: the action stands in its intent. */
export function isRequest(submitted: ExecutionRequest | SubmittedTransaction): submitted is ExecutionRequest {
  return 'action' in submitted
}

/**
 * @param request The work to be done.
 * @param callerId Called only where the request lacks a value that is derived from it.
 * @returns The transaction, with new ids, except its own id where `key` or `businessTransactionId` gives it.
 * @throws TypeError for an unknown member, an empty key, and `key` and `businessTransactionId` together.
 */
export async function buildTransaction(
  request: ExecutionRequest,
  callerId: () => Promise<string>,
): Promise<SubmittedTransaction> {
  const { action, target, parameters = {}, policy, signals = {} } = request
  const unknown = Object.keys(request).find((name) => !Object.hasOwn(MEMBERS, name))
  if (unknown !== undefined) throw new TypeError(`An execution request has no member '${unknown}'.`)
  if (request.key !== undefined && request.businessTransactionId !== undefined)
    throw new TypeError('An execution request has a key or a businessTransactionId, not both.')
  if (request.key === '') throw new TypeError('The key of an execution request is empty.')
  const principalId = request.principalId ?? (await callerId())
  const businessTransactionId =
    request.key === undefined
      ? (request.businessTransactionId ?? v4())
      : v5(request.key, v5(await callerId(), KEYS))
  const [authorityId, authorizationId] = [v4(), v4()]
  const now = new Date().toISOString()
  return {
    businessTransactionId,
    metadata: { businessTransactionId },
    authority: { authorityId, authorityType: 'SERVICE', principalId, issuedAt: now },
    authorization: { authorizationId, authorityId, issuedAt: now },
    intent: { intentId: v4(), authorizationId, action, target, parameters, createdAt: now },
    policy,
    signals,
  }
}
