// Evidence as a reader saves it, made by the server's own steps without HTTP or a database.
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/core/json/canonical.ts'
import { sealedText, trustRecordText } from '../../src/core/sealed.ts'
import type { Algorithm, SigningKeys } from '../../src/core/signing/keys.ts'
import { publicKeyJson, type PublicKeyJson } from '../../src/core/signing/published.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import { decide, type Authorized, type Refused } from '../../workers/execute/decide.ts'
import { perform } from '../../workers/execute/perform.ts'
import { receipt } from '../../workers/execute/receipt.ts'
import { seal, type SealedExecution } from '../../workers/execute/seal.ts'
import { validate, type Accepted } from '../../workers/execute/validate.ts'
import { verify } from '../../workers/execute/verify.ts'
import { aRequest, openRoad, type Road } from '../road/thread.ts'
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
  const road = openRoad(algorithms)
  const record: Tampered = JSON.parse(await aRecord(road))
  return {
    keySet: keySetOf(road),
    keys: { ed25519: road.key, receipt: road.signingKeys },
    record,
    other: JSON.parse(await aRecord(road)),
    receipt: record.receipts[0],
    refusal: aRefusal(road, aRejectedTransaction()),
    denial: aRefusal(road, aMismatchedTransaction()),
    event: anEvent(road),
  }
}

export function keySetOf(road: Road): Saved['keySet'] {
  const published = new Map([road.key, ...road.signingKeys].map((key) => [key.public.keyId, key.public]))
  return { keys: Array.from(published.values(), publicKeyJson) }
}

/** A record as GET /trust-records/{id} answers it. */
export async function aRecord(road: Road, transaction: object = aTransaction()): Promise<string> {
  const { atOnce, later } = perform([decided(road, transaction) as Authorized])
  const performed = atOnce[0] ?? (await later[0])
  if (performed === undefined) throw new Error('nothing was performed')
  const sealed = (await seal(performed, road.signingKeys)) as SealedExecution
  const { record, verification, ...done } = await receipt(verify(sealed, road), road.signingKeys)
  return trustRecordText({ ...record, verifications: verification.text, receipts: done.receipt })
}

function aRefusal(road: Road, transaction: object): Tampered {
  return JSON.parse(sealedText((decided(road, transaction) as Refused).refusal))
}

function decided(road: Road, transaction: object) {
  const now = new Date()
  const accepted = validate(aRequest(transaction), now.toISOString()) as Accepted
  return decide(accepted, { ...road, now })
}

/** As decisions §9 describes one. */
function anEvent(road: Road): Tampered {
  const event: Json = {
    eventId: randomUUID(),
    type: 'caller.rejected',
    occurredAt: '2026-11-21T01:00:00.000Z',
    route: 'POST /execute',
    severity: 'warning',
  }
  const signature = signEd25519('audit-event', canonicalize(event), road.key)
  return { event, signature: { ...signature, signedAt: '2026-11-21T01:00:00.000Z' } }
}

export const flipped = (text: string) => (text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`)
