// Sixth step: the Execution Trust Record, canonical, hashed and signed (decisions §4). From here on it is text.
import { randomUUID } from 'node:crypto'
import { Canonical, canonicalize } from '../../src/canonical.ts'
import { failures, type Failure } from '../../src/errors.ts'
import type { Sealed } from '../../src/sealed.ts'
import { sha256Hex } from '../../src/signing/sha256.ts'
import type { SigningKey } from '../../src/signing/keys.ts'
import { sign } from '../../src/signing/signature.ts'
import type { ConnectorOutcome } from '../connectors/connector.ts'
import type { Performed } from './perform.ts'

/** The record as it will be stored and sent. */
export interface SealedExecution extends Performed {
  readonly outcomeOfCall: KnownOutcome
  readonly record: Sealed
  readonly recordCreatedAt: string
}

type KnownOutcome = Exclude<ConnectorOutcome, { kind: 'unknown' }>

/**
 * in  keys  one per configured algorithm, the first one's signature is `signature`; several make a hybrid record, whose signed
 *           bytes name the algorithms, so that a stripped signature is missed by every verifier
 */
export async function seal(
  performed: Performed,
  keys: readonly SigningKey[],
): Promise<SealedExecution | Failure> {
  const { transaction, canonical, authorization, outcomeOfCall } = performed
  if (outcomeOfCall.kind === 'unknown') return failures.outcomeUnknown(outcomeOfCall.cause)
  const recordCreatedAt = new Date().toISOString()
  const body = canonicalize({
    trustRecordId: randomUUID(),
    businessTransactionId: transaction.businessTransactionId,
    transaction: canonical.transaction,
    authorization: authorization.text,
    executions: [execution(performed, outcomeOfCall)],
    overrides: [],
    createdAt: recordCreatedAt,
    ...(keys.length > 1 ? { requiredAlgorithms: keys.map((key) => key.public.algorithm) } : {}),
  })
  const signatures = await sign('trust-record', body, keys)
  const [first] = signatures
  if (first === undefined) throw new Error('no signing key')
  const sealText = canonicalize({
    trustRecordHash: sha256Hex(body),
    signature: { ...first, signedAt: recordCreatedAt },
    ...(keys.length > 1 ? { signatures: signatures.map((signature) => ({ ...signature })) } : {}),
  })
  return { ...performed, outcomeOfCall, record: { body, seal: sealText }, recordCreatedAt }
}

function execution(performed: Performed, outcomeOfCall: KnownOutcome): Canonical {
  const { transaction, canonical, decision, authorization, connector, startedAt, completedAt } = performed
  const completed = outcomeOfCall.kind === 'completed'
  const result = new Canonical(
    canonicalize(
      outcomeOfCall.kind === 'completed' ? outcomeOfCall.result : { reason: outcomeOfCall.reason },
    ),
  )
  const text = canonicalize({
    executionId: randomUUID(),
    businessTransactionId: transaction.businessTransactionId,
    decision: decision.text,
    status: completed ? 'COMPLETED' : 'FAILED',
    mode: 'SYNC',
    startedAt,
    completedAt,
    evidence: {
      businessTransactionId: transaction.businessTransactionId,
      action: transaction.intent.action,
      target: transaction.intent.target,
      parameters: canonical.parameters,
      success: completed,
      executedAt: completedAt,
      connector: {
        connectorId: connector.connectorId,
        connectorVersion: connector.connectorVersion,
        endpoint: connector.endpoint,
        responseHash: sha256Hex(result.text),
      },
      result,
    },
    metadata: { authorizationId: authorization.authorizationId },
  })
  return new Canonical(text)
}
