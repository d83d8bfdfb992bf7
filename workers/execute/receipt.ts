// Eighth step: the signed receipt of a verified record (interface §2.4, decisions §4 "Receipt").
import { randomUUID } from 'node:crypto'
import { Canonical, canonicalize } from '../../src/core/json/canonical.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { sign } from '../../src/core/signing/signature.ts'
import type { Verification } from '../../src/core/verification.ts'
import type { VerifiedExecution } from './verify.ts'

export interface ReceiptedExecution extends VerifiedExecution {
  /** Canonical text of the Receipt. */
  readonly receipt: string
}

/** Throws where the verification failed: nothing that did not verify is ever receipted (interface §3). */
export async function receipt(
  execution: VerifiedExecution,
  keys: readonly SigningKey[],
): Promise<ReceiptedExecution> {
  const { businessTransactionId } = execution.transaction
  return { ...execution, receipt: await receiptText(businessTransactionId, execution.verification, keys) }
}

/** @throws Error where the verification failed */
export async function receiptText(
  businessTransactionId: string,
  verification: Pick<Verification, 'verificationId' | 'trustRecordHash' | 'status'>,
  keys: readonly SigningKey[],
): Promise<string> {
  if (verification.status !== 'VERIFIED')
    throw new Error(`the record of ${businessTransactionId} does not verify`)
  const [first] = keys
  if (first === undefined) throw new Error('no signing key')
  const unhashed = {
    receiptId: randomUUID(),
    businessTransactionId,
    verificationId: verification.verificationId,
    trustRecordHash: verification.trustRecordHash,
    issuedAt: new Date().toISOString(),
    algorithm: first.public.algorithm,
    keyId: first.public.keyId,
    ...(keys.length > 1 ? { requiredAlgorithms: keys.map((key) => key.public.algorithm) } : {}),
  }
  const signed = { ...unhashed, receiptHash: sha256Hex(canonicalize(unhashed)) }
  const signatures = await sign('receipt', canonicalize(signed), keys)
  const [signature] = signatures
  if (signature === undefined) throw new Error('no signature')
  return canonicalize({
    ...signed,
    signature: signature.value,
    ...(keys.length > 1
      ? { signatures: new Canonical(canonicalize(signatures.map((one) => ({ ...one })))) }
      : {}),
  })
}
