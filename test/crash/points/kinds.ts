// The kinds of executions that the crash tests send: between them they reach every part of the pipeline (decisions §3, §6, §8).
import { randomUUID } from 'node:crypto'
import { canonicalize } from '../../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../../src/store/sha256.ts'
import { insertApprovalRequest } from '../../../src/store/tables/approval-requests.ts'
import { insertApproval } from '../../../src/store/tables/approvals.ts'
import { unlogged } from '../../../src/store/tables/log-queue.ts'
import { anApprover, aSignedApproval } from '../../authority.ts'
import type { TestDatabase } from '../../database.ts'
import { storeInEffect } from '../../in-effect.ts'
import { addPolicy } from '../../policies.ts'
import { aTransaction } from '../../transactions.ts'
import { aDealId } from './receiver.ts'
import { inTransaction } from '../../../src/store/postgres/transaction.ts'

export type Sent = Omit<ReturnType<typeof aTransaction>, 'signals'> & {
  signals: Readonly<Record<string, boolean | number>>
}

export interface Kind {
  readonly name: string
  /** The status that it is answered where nobody dies. */
  readonly status: number
  /** How often its effect is then asked for. */
  readonly effects: 0 | 1
  /** How its intent ends then; undefined where none was released. */
  readonly ends?: 'FINALIZED' | 'ERRORED' | 'RELEASED'
  /** It uses an approval up. */
  readonly approved?: true
  /** Makes the request to post, once what it rests on has been stored. Two kinds, or two lanes, never wait for one lock. */
  readonly make: (database: TestDatabase, lane: number) => Sent | Promise<Sent>
}

const DEAL = 'hubspot:deal-update'
const PAY = 'vendor:pay'
const alice = anApprover('alice')

export const kinds: readonly Kind[] = [
  { name: 'updates a deal', status: 200, effects: 1, ends: 'FINALIZED', make: () => anUpdate('deal') },
  {
    name: 'updates a deal that a human approved',
    approved: true,
    status: 200,
    effects: 1,
    ends: 'FINALIZED',
    async make(database) {
      const sent = anUpdate('deal-approved')
      await approve(database, sent)
      return sent
    },
  },
  { name: 'is denied without an approval', status: 403, effects: 0, make: () => anUpdate('deal-approved') },
  {
    name: 'updates a deal within a limit',
    status: 200,
    effects: 1,
    ends: 'FINALIZED',
    make: (_database, lane) => anUpdate(`deal-limited-${lane}`),
  },
  {
    name: 'updates a deal within a limit that it leaves to the service',
    status: 200,
    effects: 1,
    ends: 'FINALIZED',
    make: (_database, lane) => ({ ...anUpdate(`deal-limited-by-service-${lane}`), signals: {} }),
  },
  {
    name: 'updates a deal that the CRM calls open',
    status: 200,
    effects: 1,
    ends: 'FINALIZED',
    make: () => anUpdate('deal-open'),
  },
  {
    name: 'pays by an external connector',
    status: 200,
    effects: 1,
    ends: 'FINALIZED',
    make: () => {
      const target = `invoice-${randomUUID()}`
      return aTransaction({ intent: { action: PAY, target, parameters: {} }, policy: { name: 'pay' } })
    },
  },
  {
    name: 'is refused by the provider',
    status: 500,
    effects: 1,
    ends: 'ERRORED',
    make: () => anUpdate('deal', { target: aDealId('refused') }),
  },
  {
    name: 'is not answered by the provider',
    status: 502,
    effects: 1,
    ends: 'RELEASED',
    make: () => anUpdate('deal', { target: aDealId('lost') }),
  },
  {
    name: 'is rejected',
    status: 500,
    effects: 0,
    make: () => anUpdate('deal', { signals: { approved: false } }),
  },
  { name: 'echoes at once', status: 200, effects: 0, ends: 'FINALIZED', make: () => aTransaction() },
  {
    name: 'echoes later',
    status: 200,
    effects: 0,
    ends: 'FINALIZED',
    make: () => aTransaction({ intent: { parameters: { amount: 42, delayMs: 5 } } }),
  },
  {
    name: 'has its evidence refused for a while',
    status: 502,
    effects: 1,
    ends: 'FINALIZED',
    async make(database) {
      const sent = anUpdate('deal')
      await refuseEvidence(database, sent.businessTransactionId)
      return sent
    },
  },
]

/** Every signal of every policy here. */
const SIGNALS = { approved: true, before: 0, closed: false }

function anUpdate(policy: string, { target = aDealId('done'), signals = {} } = {}): Sent {
  return aTransaction({
    intent: { action: DEAL, target, parameters: { amount: 7 } },
    policy: { name: policy },
    signals: { ...SIGNALS, ...signals },
  })
}

/** An approval of a request for exactly this, as if both had been delivered. */
async function approve({ pool }: TestDatabase, sent: Sent): Promise<void> {
  const { target, parameters } = sent.intent
  const parametersHash = sha256Hex(canonicalize(parameters))
  const requestHash = await ask(pool, sent)
  const approval = aSignedApproval(alice, {
    version: 2,
    capability: DEAL,
    target,
    scope: { parametersHash },
    requestHash,
  })
  const { approvalId, nonce, issuedAt, expiresAt } = approval.payload as Readonly<Record<string, string>>
  const { approverId, keyId } = alice
  const row = {
    approvalId: approvalId ?? '',
    nonce: nonce ?? '',
    approverId,
    keyId,
    capability: DEAL,
    target,
    parametersHash,
    requestHash,
    issuedAt: issuedAt ?? '',
    expiresAt: expiresAt ?? '',
    body: canonicalize(approval),
    deliveredBy: 'tester',
    deliveredAt: new Date().toISOString(),
    ...unlogged,
  }
  await inTransaction(pool, (sql) => insertApproval(sql, row))
}

/** @returns the hash of the request */
async function ask(
  pool: TestDatabase['pool'],
  { authority, intent, policy, signals }: Sent,
): Promise<string> {
  const { name, version } = policy
  const { rows } = await pool.query<{ contentHash: string }>(
    `SELECT stated_hash AS "contentHash" FROM authority WHERE kind = 'policy' AND key = $1`,
    [`${name}/${version}`],
  )
  const shared = {
    requestId: randomUUID(),
    requestedBy: 'tester',
    principalId: authority.principalId,
    quorum: 1,
  }
  const times = {
    createdAt: new Date(Date.now() - 60_000).toISOString(),
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  }
  const body = canonicalize({
    ...shared,
    ...times,
    capability: intent.action,
    target: intent.target,
    parameters: intent.parameters,
    signals,
    policy: { name, version, contentHash: rows[0]!.contentHash },
    note: '',
  })
  const requestHash = sha256Hex(body)
  const noticeAt = times.createdAt
  const row = {
    ...shared,
    ...times,
    noticeAt,
    neededSignals: null,
    remindAt: null,
    escalateAt: null,
    escalateTo: null,
    askNextAt: null,
    status: 'OPEN',
    policyName: policy.name,
    policyVersion: policy.version,
    requestHash,
    askedHash: requestHash,
    body,
    seal: '{}',
    ...unlogged,
  }
  await inTransaction(pool, (sql) => insertApprovalRequest(sql, row))
  return requestHash
}

function rules(when: string) {
  return [{ id: 'fine', when, outcome: 'approve', reason: 'Fine.' }]
}

/** Into a folder, the policies that the kinds name. */
export function addCrashPolicies(folder: string, lanes: number): void {
  const add = (name: string, members: object) =>
    addPolicy(folder, { name, version: '1.0.0', capability: DEAL, ...members })
  add('deal', {})
  add('deal-approved', { verify: { approved: { by: 'approval', quorum: 1, from: ['managers'] } } })
  // Executions under one policy with a limit wait for each other's lock, and one that a mark has stopped keeps it.
  const limited = {
    signals: { before: 'number', alike: 'number' },
    // The sum of what no execution has: 0, however many of them run at once. The second is of a group, and always left out.
    verify: {
      before: { by: 'history', window: '1h', sum: 'intent.parameters.none' },
      alike: { by: 'history', window: '1h', sum: 'intent.parameters.none', per: ['target'] },
    },
    rules: rules('signals.before < 1.0 && signals.alike < 1.0'),
  }
  for (let lane = 0; lane < lanes; lane++) {
    add(`deal-limited-${lane}`, limited)
    add(`deal-limited-by-service-${lane}`, limited)
  }
  add('deal-open', {
    signals: { closed: 'boolean' },
    verify: { closed: { by: 'crm-deal', property: 'hs_is_closed' } },
    rules: rules('!signals.closed'),
  })
  add('pay', { capability: PAY })
}

/** Into the database, before any service starts: the approver, the external connector, and what refuses evidence. */
export async function storeCrashRows({ pool }: TestDatabase, origin: string): Promise<void> {
  const { approverId, keyId, publicKeyPem } = alice
  await storeInEffect(pool, 'approver', { action: 'add', approverId, keyId, publicKeyPem })
  await storeInEffect(pool, 'approver-group', { action: 'set', group: 'managers', members: [approverId] })
  await storeInEffect(pool, 'external-connector', {
    action: 'register',
    capability: PAY,
    endpointUrl: `${origin}/`,
    policy: 'pay',
    allowedParameters: [],
    timeoutMs: 10_000,
  })
  await pool.query(`
    CREATE TABLE refused_evidence (business_transaction_id uuid PRIMARY KEY, attempts regclass NOT NULL);
    CREATE FUNCTION refuse_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM refused_evidence AS r
      WHERE r.business_transaction_id = NEW.business_transaction_id AND nextval(r.attempts) <= ${ATTEMPTS_REFUSED};
      IF FOUND THEN
        RAISE EXCEPTION 'no room' USING ERRCODE = '53100';
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse_evidence BEFORE INSERT ON execution_evidence FOR EACH ROW EXECUTE FUNCTION refuse_evidence()`)
}

/** As often as `store` tries: the next attempt is that of pending evidence. */
const ATTEMPTS_REFUSED = 5

/** To the service it is a database that has no room (SQLSTATE class 53). They are counted by a sequence: no rollback undoes that. */
async function refuseEvidence({ pool }: TestDatabase, id: string): Promise<void> {
  const attempts = `attempts_${id.replaceAll('-', '_')}`
  await pool.query(`CREATE SEQUENCE ${attempts}`)
  await pool.query('INSERT INTO refused_evidence VALUES ($1::uuid, $2::regclass)', [id, attempts])
}
