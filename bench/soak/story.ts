// A story of the soak: a few calls that belong together.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import { anyOf } from '../pick.ts'
import { filledOnce } from '../request.ts'
import { transactionBody, type TransactionOptions } from '../transaction.ts'
import type { SoakClient } from './client.ts'

/** The weight is how often it is told beside the others; a story that is rare or costs much has `everySeconds` in its place. */
export type Story = {
  readonly name: string
  /** @throws Error where something was not as it must be */
  readonly tell: (world: World) => Promise<unknown>
} & ({ readonly weight: number } | { readonly everySeconds: number })

/** The surroundings that all stories share. */
export interface World {
  /** With the key of a caller who may do everything, where a call names no other. */
  readonly client: SoakClient
  /** Key of a caller whose one capability is `sandbox:echo`. */
  readonly narrow: string
  /** Key of a caller who may read everything. */
  readonly auditor: string
  /** Enrolled: whose signed approvals count. */
  readonly approver: { readonly approverId: string; readonly key: SigningKey }
  readonly database: Client
  /** The address of the external connector. */
  readonly receiverUrl: string
  readonly publicKeyIds: readonly string[]
  /** Ids of executions that were answered 200, some of the newest. */
  readonly executed: ReturnType<typeof recent>
  /** Numbers the names that a run makes up. */
  readonly next: () => number
}

const RECENT_MAX = 500

/** A bounded memory: the newest of what was put in. */
export function recent() {
  const items: string[] = []
  let at = 0
  return {
    add(item: string): void {
      items[at] = item
      at = (at + 1) % RECENT_MAX
    },
    /** @throws Error where there is none yet */
    any: () => anyOf(items),
  }
}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Policies that the soak puts into effect while it sets itself up, and the capability of the second one's connector. */
export const APPROVED_BY_A_HUMAN = 'soak-approved'
export const EXTERNAL = 'soak-external'
export const EXTERNAL_CAPABILITY = 'soak:act'

/** @returns JSON of a transaction that `sandbox-echo` approves, but for what is given */
export function aTransaction({
  id = randomUUID(),
  ...options
}: TransactionOptions & { id?: string } = {}): string {
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
