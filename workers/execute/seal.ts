// Sixth stage: the Execution Trust Record, canonical, hashed and signed (decisions §4). From here on it is text.
import { Canonical, canonicalize } from '../../src/formats/json/canonical.ts'
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import type { Sealed } from '../../src/store/tables/sealed.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { signTogether, type Signature, type SignTogether } from '../../src/core/signing/signature.ts'
import type { Fresh } from '../fresh.ts'
import type { ConnectorOutcome } from '../connectors/connector.ts'
import { runStage, runTogether, type Finished } from '../in-flight.ts'
import type { Performed } from './perform.ts'

/** The record as it will be stored and sent. */
export interface SealedExecution extends Performed {
  readonly outcomeOfCall: KnownOutcome
  readonly record: Sealed
  readonly recordCreatedAt: string
}

type KnownOutcome = Exclude<ConnectorOutcome, { kind: 'unknown' }>

/** A record that is to be signed. */
interface UnsignedRecord extends Performed {
  readonly outcomeOfCall: KnownOutcome
  readonly body: string
  readonly recordCreatedAt: string
}

interface SealWith extends SignTogether, Pick<Fresh, 'clock' | 'newId'> {
  /**
   * One per configured algorithm; the first one makes `signature`. Several make a hybrid record, whose signed bytes name the algorithms,
   * so that every verifier misses a stripped signature.
   */
  readonly receiptKeys: readonly SigningKey[]
}

/** Signs the records of a group by one signature of each key. A call with an unknown outcome has no record: 502. */
export function seal(
  performed: readonly (Performed | Finished)[],
  tools: SealWith,
): Promise<(SealedExecution | Finished)[]> {
  const { receiptKeys } = tools
  const { outcomeUnknown } = failures
  const unsigned = runStage(performed, (item) => draft(item, tools), outcomeUnknown)
  return runTogether(
    unsigned,
    async (items) => {
      const bodies = items.map(({ body }) => body)
      const signatures = await signTogether('trust-record', bodies, receiptKeys, tools)
      return items.map((item, i) => sealed(item, signatures[i] ?? []))
    },
    outcomeUnknown,
  )
}

function draft(performed: Performed, tools: SealWith): UnsignedRecord | Failure {
  const { receiptKeys: keys, clock, newId } = tools
  const { transaction, canonical, authorization, outcomeOfCall } = performed
  if (outcomeOfCall.kind === 'unknown') return failures.outcomeUnknown(outcomeOfCall.cause)
  const recordCreatedAt = clock().toISOString()
  const body = canonicalize({
    authorization: authorization.signed,
    businessTransactionId: transaction.businessTransactionId,
    createdAt: recordCreatedAt,
    executions: [execution(performed, outcomeOfCall, newId())],
    overrides: [],
    ...(keys.length > 1 ? { requiredAlgorithms: keys.map((key) => key.public.algorithm) } : {}),
    transaction: canonical.stored,
    trustRecordId: newId(),
  })
  return { ...performed, outcomeOfCall, body, recordCreatedAt }
}

function sealed({ body, ...item }: UnsignedRecord, signatures: readonly Signature[]): SealedExecution {
  const [first] = signatures
  if (first === undefined) throw new Error('no signing key')
  const sealText = canonicalize({
    signature: { ...first, signedAt: item.recordCreatedAt },
    ...(signatures.length > 1 ? { signatures: [...signatures] } : {}),
    trustRecordHash: sha256Hex(body),
  })
  return { ...item, record: { body, seal: sealText } }
}

function execution(performed: Performed, outcomeOfCall: KnownOutcome, executionId: string): Canonical {
  const { transaction, canonical, decision, authorization, connector, startedAt, completedAt } = performed
  const completed = outcomeOfCall.kind === 'completed'
  const result = new Canonical(
    canonicalize(
      outcomeOfCall.kind === 'completed' ? outcomeOfCall.result : { reason: outcomeOfCall.reason },
    ),
  )
  const text = canonicalize({
    businessTransactionId: transaction.businessTransactionId,
    completedAt,
    decision: decision.text,
    evidence: {
      action: transaction.intent.action,
      businessTransactionId: transaction.businessTransactionId,
      connector: {
        connectorId: connector.connectorId,
        connectorVersion: connector.connectorVersion,
        endpoint: connector.endpoint,
        responseHash: sha256Hex(result.text),
      },
      executedAt: completedAt,
      parameters: canonical.parameters,
      result,
      success: completed,
      target: transaction.intent.target,
    },
    executionId,
    metadata: { authorizationId: authorization.authorizationId },
    mode: 'SYNC',
    startedAt,
    status: completed ? 'COMPLETED' : 'FAILED',
  })
  return new Canonical(text)
}
