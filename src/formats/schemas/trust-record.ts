// ExecutionTrustRecord with its Execution (interface §2.2) and the execution authorization (decisions §4).
import { Type } from 'typebox'
import { AnyKey, BusinessTransaction } from './business-transaction.ts'
import { CallerAuthentication } from './caller-authentication.ts'
import { Decision } from './decision.ts'
import { Instant, NonEmptyText, Sha256, Text, Uuid } from './primitives.ts'
import { ProviderConfirmationWithSignature } from './provider-confirmation.ts'
import { Receipt } from './receipt.ts'
import { Signature, authorizationMembers, hybridMembers } from './signature.ts'
import { Verification } from './verification.ts'

const Evidence = Type.Object({
  businessTransactionId: Uuid,
  action: NonEmptyText,
  target: NonEmptyText,
  parameters: Type.Record(AnyKey, Type.Unknown()),
  success: Type.Boolean(),
  executedAt: Instant,
  connector: Type.Object({
    connectorId: NonEmptyText,
    connectorVersion: NonEmptyText,
    endpoint: Text,
    responseHash: Sha256,
  }),
  result: Type.Unknown({ description: 'whatever the connector answered' }),
})

export const Execution = Type.Object({
  executionId: Uuid,
  businessTransactionId: Uuid,
  decision: Decision,
  status: Type.Enum(['COMPLETED', 'FAILED']),
  mode: Type.Enum(['SYNC']),
  startedAt: Instant,
  completedAt: Instant,
  evidence: Evidence,
  metadata: Type.Object({ authorizationId: Uuid }),
})

export const ExecutionAuthorization = Type.Object({
  payload: Type.Object({
    version: Type.Enum([1]),
    authorizationId: Uuid,
    nonce: NonEmptyText,
    decisionId: Uuid,
    businessTransactionId: Uuid,
    policyName: NonEmptyText,
    policyVersion: NonEmptyText,
    policyContentHash: Sha256,
    businessTransactionHash: Sha256,
    signalsHash: Sha256,
    callerId: NonEmptyText,
    callerAuthentication: Type.Optional(CallerAuthentication),
    authorizedAt: Instant,
    expiresAt: Instant,
  }),
  ...authorizationMembers,
})

export const ExecutionTrustRecord = Type.Object({
  trustRecordId: Uuid,
  businessTransactionId: Uuid,
  transaction: BusinessTransaction,
  authorization: ExecutionAuthorization,
  overrides: Type.Array(Type.Unknown()),
  executions: Type.Array(Execution),
  verifications: Type.Array(Verification, { description: 'the newest 100, oldest first' }),
  receipts: Type.Array(Receipt, { description: 'the newest 100, oldest first' }),
  verificationCount: Type.Optional(
    Type.Integer({ description: 'there where the list was cut: how many GET /verifications/{id} lists' }),
  ),
  receiptCount: Type.Optional(
    Type.Integer({ description: 'there where the list was cut: how many GET /receipts/{id} lists' }),
  ),
  confirmations: Type.Optional(
    Type.Array(ProviderConfirmationWithSignature, {
      description:
        'confirmations by providers, the newest 100, oldest first; only in the reply for one record',
    }),
  ),
  confirmationCount: Type.Optional(
    Type.Integer({ description: 'there where the list was cut: how many GET /confirmations/{id} lists' }),
  ),
  createdAt: Instant,
  trustRecordHash: Sha256,
  signature: Signature,
  ...hybridMembers,
})
export type ExecutionTrustRecord = Type.Static<typeof ExecutionTrustRecord>
