// The road of one execution, a batch at a time, in the order that interface §4.2 and decisions §3 fix.
import type { Pool } from 'pg'
import { failures } from '../../src/errors.ts'
import type { PublicKey, SigningKey } from '../../src/signing/keys.ts'
import type { Crypto } from '../../src/verifier/trust-record.ts'
import type { Connectors } from '../connectors/index.ts'
import type { Policies } from '../policies.ts'
import { forward, forwardAsync, leftTheRoad, stillGoing, type Answered, type Travelling } from './road.ts'
import { admit } from './admit.ts'
import { decide } from './decide.ts'
import { doubt } from './doubt.ts'
import { gate } from './gate.ts'
import { perform, type Performed } from './perform.ts'
import { receipt } from './receipt.ts'
import { seal } from './seal.ts'
import { store } from './store.ts'
import { validate } from './validate.ts'
import { verify } from './verify.ts'

/** What the road works with, opened once per thread. */
export interface Thread {
  readonly pool: Pool
  readonly policies: Policies
  readonly connectors: Connectors
  /** One per configured algorithm, for records and receipts. */
  readonly signingKeys: readonly SigningKey[]
  /** The Ed25519 key, for every other artifact. */
  readonly key: SigningKey
  readonly findKey: (keyId: string) => PublicKey | undefined
  readonly crypto: Crypto
}

/**
 * Takes a batch down the road. Items are independent: each ends with its own answer, in any order.
 * out  answered  those that are through
 *      later     those whose connector has yet to answer; `finish` takes each further as it comes
 */
export async function execute(
  batch: readonly Travelling[],
  thread: Thread,
): Promise<{ answered: Answered[]; later: Promise<Performed>[] }> {
  const now = new Date()
  const tools = { ...thread, now }
  const accepted = forward(batch, (item) => validate(item, now.toISOString())) // 400 403 500
  const decided = forward(accepted, (item) => decide(item, tools)) // computes 404, refusals, authorizations
  const gated = forward(decided, (item) => gate(item, tools)) // the gateway's pure checks
  const admitted = await admit(gated, tools) // one transaction stores every outcome; 409 wins
  const { atOnce, later } = perform(stillGoing(admitted)) // the only outside effect
  return { answered: [...leftTheRoad(admitted), ...(await finish(atOnce, thread))], later }
}

/**
 * From the effect to the answer, for any group of executions that have come that far. Whatever fails here leaves the intent
 * RELEASED and is a 502: a 500 would say that nothing was carried out.
 */
export async function finish(performed: readonly Performed[], thread: Thread): Promise<Answered[]> {
  const { signingKeys, crypto, pool } = thread
  const { outcomeUnknown } = failures
  const sealed = await forwardAsync(performed, (item) => seal(item, signingKeys), outcomeUnknown) // record
  const verified = forward(sealed, (item) => verify(item, crypto), outcomeUnknown) // verification
  const receipted = await forwardAsync(verified, (item) => receipt(item, signingKeys), outcomeUnknown) // receipt
  const answered = await store(receipted, pool) // one transaction; 200 500 502
  await doubt(
    performed.filter((_, i) => answered[i]?.status === 502),
    pool,
  )
  return answered
}
