// Sixth stage: the Execution Trust Record, canonical, hashed and signed (decisions §4). From here on it is text.
import { Canonical, canonicalize } from '../../src/formats/json/canonical.ts'
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import type { Sealed } from '../../src/store/tables/sealed.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import type { Algorithm } from '../../src/formats/schemas/signature.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import {
  signerText,
  signTogether,
  type Signature,
  type SignTogether,
} from '../../src/core/signing/signature.ts'
import type { Fresh } from '../fresh.ts'
import type { ConnectorOutcome } from '../connectors/connector.ts'
import { runStage, runTogether, type Finished } from '../in-flight.ts'
import type { Performed } from './perform.ts'

/** The parts from which a record is made. */
interface RecordParts extends Performed {
  readonly outcomeOfCall: KnownOutcome
  readonly trustRecordId: string
  readonly recordCreatedAt: string
  /** The only one of `executions`. */
  readonly execution: Canonical
  /** The algorithms of a hybrid record's keys. */
  readonly requiredAlgorithms: readonly Algorithm[] | undefined
}

/** The record as it will be stored and sent. */
export interface SealedExecution extends RecordParts {
  readonly record: Sealed
  readonly trustRecordHash: string
  readonly signatures: readonly Signature[]
}

type KnownOutcome = Exclude<ConnectorOutcome, { kind: 'unknown' }>

/** A record that is to be signed. */
interface UnsignedRecord extends RecordParts {
  readonly body: string
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
  const { outcomeOfCall } = performed
  if (outcomeOfCall.kind === 'unknown') return failures.outcomeUnknown(outcomeOfCall.cause)
  const recordCreatedAt = clock().toISOString()
  const parts = {
    ...performed,
    outcomeOfCall,
    recordCreatedAt,
    execution: execution(performed, outcomeOfCall, newId()),
    requiredAlgorithms: keys.length > 1 ? keys.map((key) => key.public.algorithm) : undefined,
    trustRecordId: newId(),
  }
  return { ...parts, body: recordText(parts) }
}

function sealed({ body, ...item }: UnsignedRecord, signatures: readonly Signature[]): SealedExecution {
  const trustRecordHash = sha256Hex(body)
  const record = {
    body,
    seal: sealText(signatures, { signedAt: item.recordCreatedAt, hash: trustRecordHash }),
  }
  return { ...item, record, trustRecordHash, signatures }
}

/** Writes the signed members of a record: their canonical text. */
export function recordText(parts: RecordParts): string {
  const { transaction, canonical, authorization, requiredAlgorithms } = parts
  const required =
    requiredAlgorithms === undefined ? '' : `"requiredAlgorithms":${canonicalize(requiredAlgorithms)},`
  return (
    `{"authorization":${authorization.signed.text},"businessTransactionId":"${transaction.businessTransactionId}",` +
    `"createdAt":"${parts.recordCreatedAt}","executions":[${parts.execution.text}],"overrides":[],${required}` +
    `"transaction":${canonical.stored.text},"trustRecordId":"${parts.trustRecordId}"}`
  )
}

/**
 * Writes the unsigned members beside them: their canonical text.
 * @param of.hash trustRecordHash
 */
export function sealText(
  signatures: readonly Signature[],
  { signedAt, hash }: { readonly signedAt: string; readonly hash: string },
): string {
  const [first] = signatures
  if (first === undefined) throw new Error('no signing key')
  const texts = signatures.map((one) => `{${signerText(one)},"value":"${one.value}"}`)
  const others = texts.length > 1 ? `"signatures":[${texts.join()}],` : ''
  const own = `{${signerText(first)},"signedAt":"${signedAt}","value":"${first.value}"}`
  return `{"signature":${own},${others}"trustRecordHash":"${hash}"}`
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
