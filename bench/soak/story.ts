// A story of the soak: a few calls that belong together, and the parts that all stories share.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import type { Call, CallRoute } from '../calls.ts'
import { filledOnce } from '../request.ts'
import { transactionBody, type TransactionOptions } from '../transaction.ts'

/** `weight` is how often a story is told beside the others. A story that is rare or costs much has `everySeconds` in its place. */
export type Story = {
  readonly name: string
  /** @throws Error where a check of the story fails */
  readonly tell: (world: World) => Promise<unknown>
} & ({ readonly weight: number } | { readonly everySeconds: number })

export interface World {
  /** Calls with the key of a caller who may do everything, where a call names no other key. */
  readonly call: CallRoute
  /** Sends the head and half of the body, and disconnects. */
  readonly abandon: (route: string, body: string) => Promise<void>
  /** Key of a caller whose one capability is `sandbox:echo`. */
  readonly narrow: string
  /** Key of a caller who may read everything. */
  readonly auditor: string
  /** An enrolled approver, whose signed approvals count. */
  readonly approver: { readonly approverId: string; readonly key: SigningKey }
  readonly database: Client
  /** The address of the external connector. */
  readonly receiverUrl: string
  /** Ids of executions that were answered 200, some of the newest. */
  readonly executed: string[]
}

export const told = (name: string, weight: number, tell: Story['tell']): Story => ({ name, weight, tell })

export const rarely = (name: string, everySeconds: number, tell: Story['tell']): Story => ({
  name,
  everySeconds,
  tell,
})

/** One call of a route. */
export const one = (
  weight: number,
  route: string,
  given: (world: World) => Call = () => ({}),
  name = route,
): Story => told(name, weight, (world) => world.call(route, given(world)))

const EXECUTED_MAX = 500

/** Remembers an execution for the stories that read executions. */
export function remember({ executed }: World, id: string): void {
  executed.push(id)
  if (executed.length > EXECUTED_MAX) executed.shift()
}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Policies that the soak puts into effect while it sets itself up, and the capability of the second one's connector. */
export const APPROVED_BY_A_HUMAN = 'soak-approved'
export const EXTERNAL = 'soak-external'
export const EXTERNAL_CAPABILITY = 'soak:act'

export type Given = TransactionOptions & { readonly id?: string }

/** @returns JSON of a transaction that `sandbox-echo` approves, except for the given options */
export function aTransaction({ id = randomUUID(), ...options }: Given = {}): string {
  const parameters = { amount: 42, currency: 'EUR' }
  return filledOnce(transactionBody({ target: 'soak', parameters, ...options }), {}, { 0: id })
}

/**
 * @param members replace those of the payload
 * @returns the approver's signature for one execution of `sandbox:echo` on this target
 */
export function aSignedApproval(
  { approverId, key }: World['approver'],
  target: string,
  members: Readonly<Record<string, Json>> = {},
) {
  const now = Date.now()
  const payload = {
    version: 1,
    approvalId: randomUUID(),
    approverId,
    keyId: key.public.keyId,
    capability: 'sandbox:echo',
    target,
    scope: { limits: [{ path: 'amount', max: 1000 }] },
    issuedAt: new Date(now - 1_000).toISOString(),
    expiresAt: new Date(now + 600_000).toISOString(),
    nonce: randomBytes(16).toString('hex'),
    ...members,
  }
  const { value } = signEd25519('approval', canonicalize(payload), key)
  return { payload, algorithm: 'ed25519', signature: value }
}
