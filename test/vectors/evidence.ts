// Evidence as the server makes it (decisions §4), member for member, with ids and times that are always the same.
import { textAt, type Json, type Members } from './edit.ts'
import { canonical, claimed, keys, sha256, sign, type Forgery, type Key, type Signature } from './keys.ts'

/** A UUID that is the same every time. */
export function uuid(name: string): string {
  const hex = sha256(`countersign vectors ${name}`)
  const variant = '89ab'[Number.parseInt(hex[16] ?? '', 16) % 4]
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

/** Milliseconds after the caller sent the transaction. */
export function time(ms: number): string {
  return new Date(Date.parse('2026-11-21T01:00:00.000Z') + ms).toISOString()
}

export const CALLER = 'agent-7'
const POLICY = { name: 'sandbox-echo', version: '1.0.0', schemaVersion: '1.0.0' }
const POLICY_CONTENT_HASH = sha256('the canonical text of the policy document')

/** Which record of the story: all its ids follow from it. */
export interface Story {
  readonly name: string
  readonly parameters?: Members
  readonly signals?: Members
  /** The connector refused for certain. */
  readonly failed?: boolean
  /** Without the members that a caller may leave out. */
  readonly minimal?: boolean
}

export function aTransaction({ name, parameters, signals, minimal = false }: Story): Members {
  const businessTransactionId = uuid(`${name} transaction`)
  const [authorityId, authorizationId] = [uuid(`${name} authority`), uuid(`${name} purpose`)]
  return {
    businessTransactionId,
    metadata: {
      businessTransactionId,
      ...(minimal ? {} : { correlationId: uuid(`${name} correlation`), sourceSystem: 'billing' }),
      submittedBy: CALLER,
      ...(minimal ? {} : { submittedAt: time(0) }),
    },
    authority: {
      authorityId,
      authorityType: 'SERVICE',
      principalId: CALLER,
      ...(minimal ? {} : { displayName: 'Billing agent 7' }),
      issuedAt: '2026-11-20T08:00:00+01:00',
    },
    authorization: {
      authorizationId,
      authorityId,
      ...(minimal ? {} : { purpose: 'Pays approved invoices.' }),
      issuedAt: time(0),
    },
    intent: {
      intentId: uuid(`${name} intent`),
      authorizationId,
      action: 'sandbox:echo',
      target: 'invoice-1001',
      parameters: parameters ?? { amount: 42, currency: 'EUR', lines: [1, 2, 3] },
      createdAt: time(0),
    },
    policy: minimal ? { name: POLICY.name, version: POLICY.version } : POLICY,
    signals: signals ?? { approved: true, amount: 42 },
    status: 'RECEIVED',
    createdAt: time(10),
  }
}

function aDecision(name: string, transaction: Members): Members {
  return {
    decisionId: uuid(`${name} decision`),
    intentId: (transaction['intent'] as Members)['intentId'] as string,
    policy: transaction['policy'] as Json,
    policyContentHash: POLICY_CONTENT_HASH,
    signals: transaction['signals'] as Json,
    outcome: 'APPROVED',
    reason: 'Approved in the sandbox.',
    matchedRuleId: 'approved',
    evaluatedRules: ['too-large', 'approved'],
    verifiedSignals: {},
    evaluatedAt: time(11),
  }
}

/** The members that trustRecordHash covers. */
export function aRecordBody(
  story: Story,
  signers: readonly Key[],
  forgery: { authorization?: Forgery } = {},
): Members {
  const { name, failed = false } = story
  const transaction = aTransaction(story)
  const businessTransactionId = transaction['businessTransactionId'] as string
  const { action, target, parameters } = transaction['intent'] as {
    action: string
    target: string
    parameters: Json
  }
  const decision = aDecision(name, transaction)
  const authorizationId = uuid(`${name} authorization`)
  const shown = { businessTransactionId, action, target, parameters }
  const result = failed ? { reason: 'the sandbox was asked to fail' } : { echo: parameters }
  const payload = {
    version: 1,
    authorizationId,
    nonce: Buffer.from(sha256(`${name} nonce`), 'hex')
      .subarray(0, 16)
      .toString('base64url'),
    decisionId: decision['decisionId'] as string,
    businessTransactionId,
    policyName: POLICY.name,
    policyVersion: POLICY.version,
    policyContentHash: POLICY_CONTENT_HASH,
    businessTransactionHash: sha256(canonical(shown)),
    signalsHash: sha256(canonical(transaction['signals'] as Json)),
    callerId: CALLER,
    authorizedAt: time(12),
    expiresAt: time(120_012),
  }
  return {
    trustRecordId: uuid(`${name} record`),
    businessTransactionId,
    transaction,
    authorization: authorize(payload, keys.ed25519, forgery.authorization),
    executions: [
      {
        executionId: uuid(`${name} execution`),
        businessTransactionId,
        decision,
        status: failed ? 'FAILED' : 'COMPLETED',
        mode: 'SYNC',
        startedAt: time(13),
        completedAt: time(17),
        evidence: {
          ...shown,
          success: !failed,
          executedAt: time(17),
          connector: {
            connectorId: 'sandbox-echo',
            connectorVersion: '1.0.0',
            endpoint: 'local:sandbox-echo',
            responseHash: sha256(canonical(result)),
          },
          result,
        },
        metadata: { authorizationId },
      },
    ],
    overrides: [],
    createdAt: time(18),
    ...required(signers),
  }
}

export function authorize(payload: Members, due: Key, forgery?: Forgery): Members {
  return authorizedBy(payload, sign('execution-authorization', canonical(payload), due, forgery))
}

export function authorizedBy(payload: Members, { keyId, algorithm, value, ...beside }: Signature): Members {
  return { payload, keyId, algorithm, signature: value, ...beside }
}

/** The same body with an authorization of its payload as it is now. */
export function reauthorized(body: Members): Members {
  const { payload } = body['authorization'] as { payload: Members }
  return { ...body, authorization: authorize(payload, keys.ed25519) }
}

/** Hash and signatures beside a record's body. */
export function seal(body: Members, signers: readonly Key[], forgery?: Forgery): Members {
  return sealedBy(body, signAll('trust-record', canonical(body), signers, forgery))
}

export function sealedBy(body: Members, signatures: Signature[]): Members {
  return {
    ...body,
    trustRecordHash: sha256(canonical(body)),
    signature: { ...signatures[0], signedAt: time(18) },
    ...(signatures.length > 1 ? { signatures } : {}),
  }
}

/** A sealed record with its one verification and its one receipt. */
export function receipted(record: Members, signers: readonly Key[]): Members {
  const verification = aVerification(record)
  const receipts = [aReceipt(receiptOf(record, verification), signers)]
  return { ...record, verifications: [verification], receipts }
}

export function aVerification(record: Members, status = 'VERIFIED'): Members {
  return {
    verificationId: uuid(`${textAt(record, 'trustRecordId')} verification ${status}`),
    businessTransactionId: record['businessTransactionId'] as Json,
    status,
    message:
      status === 'VERIFIED'
        ? 'Execution Trust Record verified successfully.'
        : 'The trust record signature is not valid',
    verifiedAt: time(19),
    trustRecordHash: record['trustRecordHash'] as Json,
  }
}

export function receiptOf(record: Members, verification: Members): Members {
  return {
    receiptId: uuid(`${textAt(verification, 'verificationId')} receipt`),
    businessTransactionId: record['businessTransactionId'] as Json,
    verificationId: verification['verificationId'] as Json,
    trustRecordHash: record['trustRecordHash'] as Json,
    issuedAt: time(20),
  }
}

/** A receipt's content where the service has an evidence log. */
export function promised(content: Members): Members {
  return { ...content, transparency: { log: 'countersign.example.com/log/1', by: time(60_020) } }
}

/** Signs what a receipt says; `receiptHash` for one that does not have its own hash. */
export function aReceipt(
  content: Members,
  signers: readonly Key[],
  forgery: Forgery & { receiptHash?: string } = {},
): Members {
  const signed = receiptMembers(content, signers, forgery)
  return receiptBy(signed, signAll('receipt', canonical(signed), signers, forgery))
}

/** The members that a receipt's signatures cover. */
export function receiptMembers(
  content: Members,
  signers: readonly Key[],
  forgery: Forgery & { receiptHash?: string } = {},
): Members {
  const [first = keys.ed25519] = signers
  const hashed = { ...content, ...claimed(first, forgery), ...required(signers) }
  return { ...hashed, receiptHash: forgery.receiptHash ?? sha256(canonical(hashed)) }
}

export function receiptBy(signed: Members, signatures: Signature[]): Members {
  return {
    ...signed,
    signature: signatures[0]?.value ?? '',
    ...(signatures.length > 1 ? { signatures } : {}),
  }
}

/** A whole record. */
export function aRecord(story: Story, signers: readonly Key[]): Members {
  return receipted(seal(aRecordBody(story, signers), signers), signers)
}

/** The members that refusalRecordHash covers: a rule's rejection, or a denial by a mismatch. */
export function aRefusalBody(name: string, why: 'rule' | 'mismatch'): Members {
  const amount = why === 'rule' ? 2000 : 7
  const transaction = aTransaction({
    name,
    parameters: { amount },
    signals: { approved: true, amount: 2000 },
  })
  const reason =
    why === 'rule'
      ? 'Amount above 1000.'
      : 'declared signals do not match independently verified state (amount=2000 != verified amount=7).'
  return {
    refusalRecordId: uuid(`${name} refusal`),
    businessTransactionId: transaction['businessTransactionId'] as Json,
    decision: {
      ...aDecision(name, transaction),
      outcome: 'REJECTED',
      reason,
      matchedRuleId: why === 'rule' ? 'too-large' : null,
      evaluatedRules: why === 'rule' ? ['too-large'] : [],
    },
    evaluatedIntent: transaction['intent'] as Json,
    mismatches:
      why === 'rule'
        ? []
        : [{ signal: 'amount', declared: 2000, verified: 7, source: 'intent.parameters.amount' }],
    submittedBy: CALLER,
    createdAt: time(10),
  }
}

export function sealRefusal(body: Members, due: Key = keys.ed25519, forgery?: Forgery): Members {
  const signature = { ...sign('refusal-record', canonical(body), due, forgery), signedAt: time(12) }
  return { ...body, refusalRecordHash: sha256(canonical(body)), signature }
}

export function anEvent(): Members {
  return {
    eventId: uuid('event'),
    type: 'caller.capability_denied',
    occurredAt: time(30),
    route: 'POST /execute',
    callerId: CALLER,
    reason: 'Caller is not permitted to invoke this capability.',
    capability: 'hubspot:deal-update',
    principalId: CALLER,
    severity: 'warning',
    detail: { requestId: uuid('request') },
  }
}

export function signEvent(event: Members, due: Key = keys.ed25519, forgery?: Forgery): Members {
  const signature = { ...sign('audit-event', canonical(event), due, forgery), signedAt: time(30) }
  return { event, signature }
}

function required(signers: readonly Key[]): Members {
  return signers.length > 1 ? { requiredAlgorithms: signers.map(({ algorithm }) => algorithm) } : {}
}

/** A forger forges the first. */
function signAll(artifact: string, text: string, signers: readonly Key[], forgery?: Forgery) {
  return signers.map((due, i) => sign(artifact, text, due, i === 0 ? forgery : undefined))
}

export function reissue(record: Members, signers: readonly Key[]): Members {
  const {
    trustRecordHash: _,
    signature: _1,
    signatures: _2,
    verifications: _3,
    receipts: _4,
    ...body
  } = record
  return receipted(seal(body, signers), signers)
}
