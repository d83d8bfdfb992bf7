// Each signed member of a record changed: once by who has no key, once by who has, so that only the meaning is wrong.
import type { Cases } from '../case.ts'
import { at, put, type Json, type Members } from '../edit.ts'
import { aRecord, reauthorized, reissue, time, uuid } from '../evidence.ts'
import { modes, sha256 } from '../keys.ts'

const SEAL = ['canonical hash', 'record signature']
const TRANSACTION = ['transaction binding']
const DECISION = ['decision binding']
const APPENDED = ['verifications', 'receipts']

type Row = readonly [path: string, value: Json, meaning: readonly string[]]

const NEW_ID = uuid('another')
const DECIDED = 'executions.0.decision'
const SHOWN = 'executions.0.evidence'
const members: readonly Row[] = [
  ['trustRecordId', NEW_ID, []],
  ['createdAt', time(999), []],
  ['overrides', [{ by: 'nobody' }], []],
  ['businessTransactionId', NEW_ID, TRANSACTION],
  ['transaction.businessTransactionId', NEW_ID, TRANSACTION],
  ['transaction.status', 'EXECUTED', []],
  ['transaction.createdAt', time(999), []],
  ['transaction.metadata.submittedBy', 'somebody-else', TRANSACTION],
  ['transaction.metadata.correlationId', NEW_ID, []],
  ['transaction.metadata.sourceSystem', 'shadow', []],
  ['transaction.authority.principalId', 'somebody-else', []],
  ['transaction.authority.authorityType', 'USER', []],
  ['transaction.authority.issuedAt', '2026-11-20T07:00:00Z', []],
  ['transaction.authorization.purpose', 'Pays anything.', []],
  ['transaction.intent.intentId', NEW_ID, DECISION],
  ['transaction.intent.action', 'vendor:pay', TRANSACTION],
  ['transaction.intent.target', 'invoice-1002', TRANSACTION],
  ['transaction.intent.target', 'invoice-1001 ', TRANSACTION],
  ['transaction.intent.parameters.amount', 43, TRANSACTION],
  ['transaction.intent.parameters.amount', '42', TRANSACTION],
  ['transaction.intent.parameters.more', null, TRANSACTION],
  ['transaction.intent.parameters.lines', [3, 2, 1], TRANSACTION],
  ['transaction.intent.createdAt', time(999), []],
  ['transaction.policy.name', 'sandbox-echo-lax', DECISION],
  ['transaction.policy.version', '1.0.1', DECISION],
  ['transaction.policy.schemaVersion', '2.0.0', DECISION],
  ['transaction.signals.amount', 41, [...TRANSACTION, ...DECISION]],
  ['transaction.signals.approved', 1, [...TRANSACTION, ...DECISION]],
  ['transaction.signals.more', true, [...TRANSACTION, ...DECISION]],
  ['executions', [], [...DECISION]],
  ['executions.0.executionId', NEW_ID, []],
  ['executions.0.businessTransactionId', NEW_ID, TRANSACTION],
  ['executions.0.status', 'FAILED', []],
  ['executions.0.mode', 'ASYNC', []],
  ['executions.0.startedAt', time(999), []],
  ['executions.0.completedAt', time(999), []],
  ['executions.0.metadata.authorizationId', NEW_ID, DECISION],
  [`${SHOWN}.businessTransactionId`, NEW_ID, TRANSACTION],
  [`${SHOWN}.action`, 'vendor:pay', TRANSACTION],
  [`${SHOWN}.target`, 'invoice-1002', TRANSACTION],
  [`${SHOWN}.parameters.amount`, 43, TRANSACTION],
  [`${SHOWN}.success`, false, []],
  [`${SHOWN}.executedAt`, time(999), []],
  [`${SHOWN}.connector.endpoint`, 'https://example.com', []],
  [`${SHOWN}.connector.responseHash`, sha256('another'), []],
  [`${SHOWN}.result.echo.amount`, 43, []],
  [`${DECIDED}.decisionId`, NEW_ID, DECISION],
  [`${DECIDED}.intentId`, NEW_ID, DECISION],
  [`${DECIDED}.policy.version`, '1.0.1', DECISION],
  [`${DECIDED}.policyContentHash`, sha256('another'), DECISION],
  [`${DECIDED}.signals.amount`, 41, DECISION],
  [`${DECIDED}.outcome`, 'REJECTED', DECISION],
  [`${DECIDED}.outcome`, 'approved', DECISION],
  [`${DECIDED}.reason`, 'Because.', []],
  [`${DECIDED}.matchedRuleId`, null, []],
  [`${DECIDED}.evaluatedRules`, ['approved', 'too-large'], []],
  [`${DECIDED}.evaluatedAt`, time(999), []],
  [`${DECIDED}.verifiedSignals`, { approved: { value: true, by: 'approval' } }, ['approvals']],
  [`${DECIDED}.verifiedSignals`, { approved: { value: true, by: 'approval', approvals: [] } }, ['approvals']],
  [`${DECIDED}.verifiedSignals`, null, ['approvals']],
]

const payload: readonly Row[] = [
  ['version', 2, []],
  ['nonce', 'AAAAAAAAAAAAAAAAAAAAAA', []],
  ['authorizedAt', time(-999), []],
  ['expiresAt', time(999_999_999), []],
  ['businessTransactionId', NEW_ID, TRANSACTION],
  ['businessTransactionHash', sha256('another'), TRANSACTION],
  ['signalsHash', sha256('another'), TRANSACTION],
  ['callerId', 'somebody-else', TRANSACTION],
  ['authorizationId', NEW_ID, DECISION],
  ['decisionId', NEW_ID, DECISION],
  ['policyName', 'sandbox-echo-lax', DECISION],
  ['policyVersion', '1.0.1', DECISION],
  ['policyContentHash', sha256('another'), DECISION],
]

export function changedRecords(all: Cases): void {
  const signers = modes.ed25519
  const record = aRecord({ name: 'first' }, signers)
  for (const [i, [path, value, meaning]] of members.entries()) {
    const id = `${String(i + 1).padStart(2, '0')}-${path}`
    const changed = put(record, path, value)
    const ownId = path === 'businessTransactionId' ? APPENDED : []
    all.add(`changed-${id}`, `${path} is ${JSON.stringify(value)}, which is not what was signed.`, changed, [
      ...SEAL,
      ...meaning,
      ...ownId,
    ])
    if (meaning.length > 0)
      all.add(
        `signed-${id}`,
        `${path} is ${JSON.stringify(value)}, and the right key signed the record with it.`,
        reissue(changed, signers),
        meaning,
      )
  }
  for (const [member, value, meaning] of payload) {
    const changed = put(record, `authorization.payload.${member}`, value)
    const what = `The authorization's ${member} is ${JSON.stringify(value)}`
    all.add(`authorization-changed-${member}`, `${what}, which neither signature covers.`, changed, [
      ...SEAL,
      'authorization signature',
      ...meaning,
    ])
    all.add(
      `authorization-forged-${member}`,
      `${what}: the record is signed with it, the authorization is not.`,
      reissue(changed, signers),
      ['authorization signature', ...meaning],
    )
    if (meaning.length > 0)
      all.add(
        `authorization-signed-${member}`,
        `${what}, and both are signed: a true authorization of something else.`,
        reissue(reauthorized(changed), signers),
        meaning,
      )
  }
  boundElsewhere(all, record)
}

/** Parts of another record, put together and signed by who has the key. */
function boundElsewhere(all: Cases, record: Members): void {
  const other = aRecord({ name: 'second' }, modes.ed25519)
  const both = [...TRANSACTION, ...DECISION]
  const rows: [string, string, Members, readonly string[]][] = [
    [
      'authorization',
      'The authorization is that of another transaction.',
      put(record, 'authorization', at(other, 'authorization')),
      both,
    ],
    [
      'transaction',
      'The transaction is another.',
      put(record, 'transaction', at(other, 'transaction')),
      both,
    ],
    [
      'execution',
      'The execution is of another transaction.',
      put(record, 'executions', at(other, 'executions')),
      both,
    ],
    [
      'execution-beside',
      'An execution of another transaction stands beside its own.',
      put(record, 'executions.1', at(other, 'executions.0')),
      both,
    ],
    [
      'decision',
      'The decision is that of another transaction.',
      put(record, DECIDED, at(other, DECIDED)),
      DECISION,
    ],
    [
      'evidence',
      'The evidence of the execution is that of another transaction.',
      put(record, SHOWN, at(other, SHOWN)),
      TRANSACTION,
    ],
  ]
  for (const [id, what, changed, meaning] of rows) {
    all.add(`foreign-${id}`, what, changed, [...SEAL, ...meaning])
    all.add(
      `signed-foreign-${id}`,
      `${what} The right key signed it.`,
      reissue(changed, modes.ed25519),
      meaning,
    )
  }
  all.add(
    'signed-all-parameters',
    'Parameters are changed everywhere but in the authorization, and the right key signed.',
    reissue(
      put(put(record, `${SHOWN}.parameters.amount`, 43), 'transaction.intent.parameters.amount', 43),
      modes.ed25519,
    ),
    TRANSACTION,
  )
  all.add(
    'signed-all-policies',
    'The policy is changed everywhere but in the authorization, and the right key signed.',
    reissue(
      put(put(record, `${DECIDED}.policy.version`, '9.0.0'), 'transaction.policy.version', '9.0.0'),
      modes.ed25519,
    ),
    DECISION,
  )
}
