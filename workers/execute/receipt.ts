// Eighth stage: the signed receipts of verified records (interface §2.4, decisions §4 "Receipt", §12).
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { failures } from '../../src/core/errors/errors.ts'
import { MAXIMUM_DELAY_SECONDS } from '../../src/formats/log/entry.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { sign, signTogether, type Signature, type SignTogether } from '../../src/core/signing/signature.ts'
import type { Verification } from '../../src/core/evidence/verification.ts'
import type { Fresh } from '../fresh.ts'
import { runStage, runTogether, type Finished } from '../in-flight.ts'
import type { VerifiedExecution } from './verify.ts'

/** The members that name a receipt: one record can have several. */
interface ReceiptIdentity {
  readonly receiptId: string
  readonly receiptHash: string
}

export interface ReceiptedExecution extends VerifiedExecution, ReceiptIdentity {
  /** Canonical text of the Receipt. */
  readonly receipt: string
}

interface ReceiptWith extends SignTogether, Pick<Fresh, 'clock' | 'newId'> {
  /** One per configured algorithm; the first one makes `signature`, which is always an individual one. */
  readonly receiptKeys: readonly SigningKey[]
  /** Undefined: no inclusion is promised. */
  readonly logOrigin: () => string | undefined
}

/** Promised by receipts (docs/handbook/evidence.md "Receipts"). */
const INCLUSION_DELAY_MS = MAXIMUM_DELAY_SECONDS * 1000

/** A verification that did not succeed is a 502: nothing that did not verify is ever receipted (interface §3). */
export async function receipt(
  verified: readonly (VerifiedExecution | Finished)[],
  tools: ReceiptWith,
): Promise<(ReceiptedExecution | Finished)[]> {
  const { outcomeUnknown } = failures
  const unsigned = runStage(verified, (item) => draft(item, tools), outcomeUnknown)
  return runTogether(
    unsigned,
    async (items) => {
      const texts = await signReceipts(items, tools)
      return items.map((item, i) => ({ ...item, receipt: texts[i] as string }))
    },
    outcomeUnknown,
  )
}

function draft(item: VerifiedExecution, tools: ReceiptWith): VerifiedExecution & UnsignedReceipt {
  const { transaction, verification } = item
  if (verification.status !== 'VERIFIED')
    throw new Error(`the record does not verify: ${verification.problems.join('; ')}`)
  return { ...item, ...draftReceipt(transaction.businessTransactionId, verification, tools) }
}

/** A receipt that is to be signed. */
interface UnsignedReceipt extends ReceiptIdentity {
  readonly unsigned: { readonly [member: string]: Json }
}

/** @param verification VERIFIED: nothing else is receipted */
export function draftReceipt(
  businessTransactionId: string,
  verification: Pick<Verification, 'verificationId' | 'trustRecordHash'>,
  {
    receiptKeys: keys,
    logOrigin,
    clock,
    newId,
  }: Pick<ReceiptWith, 'receiptKeys' | 'logOrigin' | 'clock' | 'newId'>,
): UnsignedReceipt {
  const [first] = keys
  if (first === undefined) throw new Error('no signing key')
  const receiptId = newId()
  const issuedAt = clock()
  const log = logOrigin()
  const unhashed = {
    receiptId,
    businessTransactionId,
    verificationId: verification.verificationId,
    trustRecordHash: verification.trustRecordHash,
    issuedAt: issuedAt.toISOString(),
    algorithm: first.public.algorithm,
    keyId: first.public.keyId,
    ...(keys.length > 1 ? { requiredAlgorithms: keys.map((key) => key.public.algorithm) } : {}),
    ...(log === undefined ? {} : { transparency: promised(log, issuedAt) }),
  }
  const receiptHash = sha256Hex(canonicalize(unhashed))
  return { receiptId, receiptHash, unsigned: { ...unhashed, receiptHash } }
}

/** The promise, signed with the receipt, that its hash will be in the log by then. */
function promised(log: string, issuedAt: Date) {
  return { log, by: new Date(issuedAt.getTime() + INCLUSION_DELAY_MS).toISOString() }
}

/** @returns the canonical texts of the receipts, in the order of `receipts` */
export async function signReceipts(
  receipts: readonly UnsignedReceipt[],
  { receiptKeys, ...together }: ReceiptWith,
): Promise<string[]> {
  const texts = receipts.map(({ unsigned }) => canonicalize(unsigned))
  const [own, others] = [receiptKeys.slice(0, 1), receiptKeys.slice(1)]
  const [ownSignatures, otherSignatures] = await Promise.all([
    Promise.all(texts.map((text) => sign('receipt', text, own))),
    others.length === 0 ? [] : signTogether('receipt', texts, others, together),
  ])
  return receipts.map(({ unsigned }, i) =>
    signedText(unsigned, [...(ownSignatures[i] ?? []), ...(otherSignatures[i] ?? [])]),
  )
}

function signedText(unsigned: UnsignedReceipt['unsigned'], signatures: readonly Signature[]): string {
  const [own] = signatures
  if (own === undefined) throw new Error('no signature')
  return canonicalize({
    ...unsigned,
    signature: own.value,
    ...(signatures.length > 1 ? { signatures } : {}),
  })
}
