// Verifications, receipts, replays and records (interface §4.3).
import { Type, type TSchema } from 'typebox'
import { Receipt } from '../../../core/schemas/receipt.ts'
import { RecordReference, ReplayRequest, ReplayResult } from '../../../core/schemas/replay.ts'
import { ExecutionTrustRecord } from '../../../core/schemas/trust-record.ts'
import { Verification } from '../../../core/schemas/verification.ts'
import trustRecord from '../examples/trust-record.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { linkedPaging, timeRange, transactionId } from '../parameters.ts'

const { businessTransactionId, trustRecordHash, verifications, receipts } = trustRecord
const id = transactionId(businessTransactionId)
const asked = { businessTransactionId }

/** What the list of verifications and the list of receipts have in common. */
function listOf(schema: TSchema, example: unknown) {
  return {
    tag: 'Evidence',
    description: 'Follow `Link` to the end. The record itself holds the newest 100.',
    params: { id },
    query: linkedPaging,
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: Type.Array(schema),
        example: [example],
        optionalHeaders: ['Link'],
      },
    },
    failures: ['trustRecordNotFound', 'invalidPage', 'invalidPageSize', 'invalidQuery', 'overloaded'],
    readsDatabase: true,
  } as const
}

export const evidence = {
  'POST /verify': {
    operationId: 'verify',
    tag: 'Evidence',
    summary: 'Verify a record anew',
    description:
      'A fresh Verification is appended; earlier ones are kept. A record takes 10,000 of them, one more is a 409.',
    body: { schema: RecordReference, example: asked },
    answers: {
      200: {
        description: '`status` tells whether the record holds.',
        schema: Verification,
        example: verifications[0],
      },
    },
    failures: ['invalidBusinessTransactionId', 'fieldRequired', 'noRecordToVerify', 'conflict'],
    readsDatabase: true,
  },
  'GET /verification/{id}': {
    operationId: 'getLatestVerification',
    tag: 'Evidence',
    summary: 'The latest verification',
    description: 'Runs none.',
    params: { id },
    answers: {
      200: { description: 'The latest.', schema: Verification, example: verifications[0] },
    },
    failures: ['trustRecordNotFound', 'verificationNotFound'],
    readsDatabase: true,
  },
  'GET /verifications/{id}': {
    operationId: 'listVerifications',
    summary: 'All verifications of a record',
    ...listOf(Verification, verifications[0]),
  },
  'POST /receipt': {
    operationId: 'createReceipt',
    tag: 'Evidence',
    summary: 'Generate a receipt',
    description:
      'The latest verification must be VERIFIED. A record takes 1,000 receipts, one more is a 409 `CONFLICT`.',
    body: { schema: RecordReference, example: asked },
    answers: { 200: { description: 'The new receipt.', schema: Receipt, example: receipts[0] } },
    failures: [
      'invalidBusinessTransactionId',
      'fieldRequired',
      'noRecordToVerify',
      'receiptNotVerified',
      'conflict',
    ],
    readsDatabase: true,
  },
  'GET /receipt/latest/{id}': {
    operationId: 'getLatestReceipt',
    tag: 'Evidence',
    summary: 'The latest receipt',
    description: 'Generates none.',
    params: { id },
    answers: {
      200: { description: 'The latest.', schema: Receipt, example: receipts[0], cached: true },
    },
    failures: ['trustRecordNotFound', 'receiptNotFound'],
    readsDatabase: true,
  },
  'GET /receipts/{id}': {
    operationId: 'listReceipts',
    summary: 'All receipts of a record',
    ...listOf(Receipt, receipts[0]),
  },
  'POST /replay': {
    operationId: 'replay',
    tag: 'Evidence',
    summary: "Check a record's signature again",
    description: 'Executes and evaluates nothing, and stores nothing.',
    body: { schema: ReplayRequest, example: asked },
    answers: {
      200: {
        description: 'Whether the signature holds.',
        schema: ReplayResult,
        example: { businessTransactionId, trustRecordHash, verified: true },
      },
    },
    failures: ['fieldRequired', 'noRecordToVerify'],
    readsDatabase: true,
  },
  'GET /trust-records': {
    operationId: 'listTrustRecords',
    tag: 'Evidence',
    summary: 'Export records in bulk',
    description:
      'Follow `Link` to the end: a page costs the same however deep it is, and ends early where it reaches 4 MiB.',
    query: { ...linkedPaging, ...timeRange },
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: Type.Array(ExecutionTrustRecord),
        example: [trustRecord],
        optionalHeaders: ['Link'],
      },
    },
    failures: ['invalidPage', 'invalidPageSize', 'invalidQuery', 'overloaded'],
    readsDatabase: true,
  },
  'GET /trust-records/{id}': {
    operationId: 'getTrustRecord',
    tag: 'Evidence',
    summary: 'One record',
    params: { id },
    answers: {
      200: {
        description: 'With its newest 100 verifications and receipts.',
        schema: ExecutionTrustRecord,
        example: trustRecord,
        cached: true,
      },
    },
    failures: ['trustRecordNotFound', 'overloaded'],
    readsDatabase: true,
  },
} as const satisfies Record<string, Operation>
