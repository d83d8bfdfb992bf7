// Evidence as a reader saves it, made by the server's own steps without HTTP or a database.
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sealedText, trustRecordText } from '../../src/store/tables/sealed.ts'
import type { SigningKeys } from '../../src/core/signing/keys.ts'
import type { Algorithm } from '../../src/formats/schemas/signature.ts'
import { publicKeyJson, type PublicKeyJson } from '../../src/core/signing/published.ts'
import { signEd25519, openSignatureMemo, type SignatureMemo } from '../../src/core/signing/signature.ts'
import { authorize, type Authorized } from '../../workers/execute/decide/authorize.ts'
import { decide, type Concluded, type Refused } from '../../workers/execute/decide/decide.ts'
import { gate } from '../../workers/execute/gate.ts'
import { performOne } from '../../workers/execute/perform.ts'
import { receipt } from '../../workers/execute/receipt.ts'
import { seal, type SealedExecution } from '../../workers/execute/seal.ts'
import { validate, type Accepted } from '../../workers/execute/validate/validate.ts'
import { verify } from '../../workers/execute/verify.ts'
import { stillGoing } from '../../workers/in-flight.ts'
import { aRequest, openSteps, releasedAlone, type Steps } from '../pipeline/thread.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tampering reaches anywhere
export type Tampered = any

export interface Saved {
  readonly keySet: { readonly keys: readonly PublicKeyJson[] }
  readonly keys: SigningKeys
  /** Parsed; nobody changes them. */
  readonly record: Tampered
  readonly other: Tampered
  readonly receipt: Tampered
  /** Rejected by a rule. */
  readonly refusal: Tampered
  /** Denied for a mismatch. */
  readonly denial: Tampered
  readonly event: Tampered
}

export async function saved(algorithms: readonly Algorithm[]): Promise<Saved> {
  const steps = openSteps(algorithms)
  const record: Tampered = JSON.parse(await aRecord(steps))
  return {
    keySet: keySetOf(steps),
    keys: { ed25519: steps.key, receipt: steps.receiptKeys },
    record,
    other: JSON.parse(await aRecord(steps)),
    receipt: record.receipts[0],
    refusal: aRefusal(steps, aRejectedTransaction()),
    denial: aRefusal(steps, aMismatchedTransaction()),
    event: anEvent(steps),
  }
}

export function keySetOf(steps: Steps): Saved['keySet'] {
  const published = new Map([steps.key, ...steps.receiptKeys].map((key) => [key.public.keyId, key.public]))
  return { keys: Array.from(published.values(), publicKeyJson) }
}

/** A record as GET /trust-records/{id} answers it, signed by itself. */
export async function aRecord(steps: Steps, transaction: object = aTransaction()): Promise<string> {
  const [record] = await recordsOf(steps, [transaction])
  return record as string
}

/** Records of one batch, in the order of their transactions. */
export async function recordsOf(steps: Steps, transactions: readonly object[]): Promise<string[]> {
  const tools = { ...steps, signatureMemo: openSignatureMemo() }
  const receipted = stillGoing(await receipt(verify(await sealedOf(tools, transactions), tools), tools))
  return receipted.map(({ record, verification, receipt: receipts }) =>
    trustRecordText({ ...record, verifications: verification.text, receipts }),
  )
}

/** Executions of one batch, in the order of their transactions, up to the seal of their records. */
export async function sealedOf(
  { signatureMemo = openSignatureMemo(), ...steps }: Steps & { readonly signatureMemo?: SignatureMemo },
  transactions: readonly object[],
): Promise<SealedExecution[]> {
  const tools = { ...steps, signatureMemo }
  const concluded = transactions.map((transaction) => decided(steps, transaction))
  const gated = gate(await authorize(concluded, tools), { ...tools, now: steps.clock() }) as Authorized[]
  const performed = await Promise.all(gated.map((item) => performOne(releasedAlone(item), steps)))
  return stillGoing(await seal(performed, tools))
}

function aRefusal(steps: Steps, transaction: object): Tampered {
  return JSON.parse(sealedText((decided(steps, transaction) as Refused).refusal))
}

function decided(steps: Steps, transaction: object): Concluded {
  const now = steps.clock()
  const accepted = validate(aRequest(transaction), now.toISOString()) as Accepted
  return decide(accepted, { ...steps, now }) as Concluded
}

/** As decisions §9 describes one. */
function anEvent(steps: Steps): Tampered {
  const event: Json = {
    eventId: randomUUID(),
    type: 'caller.rejected',
    occurredAt: '2026-11-21T01:00:00.000Z',
    route: 'POST /execute',
    severity: 'warning',
  }
  const signature = signEd25519('audit-event', canonicalize(event), steps.key)
  return { event, signature: { ...signature, signedAt: '2026-11-21T01:00:00.000Z' } }
}

export const flipped = (text: string) => (text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`)
