// countersign fsck on a database that somebody has written to: every damage is told as the row and what is wrong with it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { checked, published, startMixed, type Mix } from './mix.ts'
import { makeKeys } from '../signing-keys.ts'

const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
let database: TestDatabase
let mix: Mix

beforeAll(async () => {
  database = await createDatabase()
  makeKeys(signingKeyDir)
  // A copy of what is tampered with here, which test/http/executions.test.ts compares.
  const env = { CATALOGUE: 'off' }
  const { service, remove, ...mixed } = await startMixed(database, { signingKeyDir, env })
  mix = mixed.mix
  // A row that still waits for its entry is not compared with it.
  await published(database)
  await service.stop()
  remove()
  await database.pool.query('DROP TRIGGER refuse_poison ON webhook_events')
  // Whether the sweep came before the human did is chance; nothing has to be there for these.
  await database.pool.query(`DELETE FROM audit_events WHERE type = 'intent.in_doubt'`)
})

afterAll(async () => {
  rmSync(signingKeyDir, { recursive: true })
  await database.drop()
})

type Lines = (key: Mix, others: Readonly<Record<string, string>>) => string[]

interface Damage {
  readonly sql: string
  readonly lines: Lines
  /** Statements that find keys, before the damage: `SELECT … AS key`. */
  readonly find?: Readonly<Record<string, string>>
}

/** Which entry of which log it is stands in the line. */
const NOT_ITS_ENTRY = 'is not what its entry says: that is of another kind, or of other bytes'

/** The audit event of the human who closed one. */
const RESOLVED = `type = 'intent.resolved' AND strpos(body, :resolved::text) > 0`
const PROCESSED = `SELECT event_key AS key FROM webhook_events WHERE processed_at IS NOT NULL AND provider = 'razorpay' LIMIT 1`

const NO_END = 'was released, but has no trust record and no transition, and is not open'

/** Stores an execution as the previous release did: the row of its intent, in place of this release's columns. */
const ofBefore = (name: string) => `
  INSERT INTO execution_intents_before SELECT * FROM execution_intents WHERE business_transaction_id = :${name};
  UPDATE execution_evidence SET errored = NULL WHERE business_transaction_id = :${name};
  UPDATE business_transactions SET deadline = NULL, log_batch = NULL, log_ordinal = NULL WHERE business_transaction_id = :${name};`

/** `:name` stands for an id of the mix. */
const DAMAGES: Readonly<Record<string, Damage>> = {
  'a number in a transaction': {
    sql: `UPDATE business_transactions SET body = replace(body, '"amount":42', '"amount":43') WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `business_transactions ${approved}: execution authorization does not verify (The execution authorization is not bound to this transaction)`,
      `trust_records ${approved}: does not verify (The trust record hash does not match the canonical record; The trust record signature is not valid; The execution authorization is not bound to this transaction; The execution authorization is not bound to this decision; The stored bytes do not match the trust record hash)`,
    ],
  },
  'a text of a transaction whose record is stored whole, as before': {
    sql: `
      UPDATE execution_evidence AS e SET body = r.body FROM trust_records AS r
        WHERE e.business_transaction_id = :approved AND r.business_transaction_id = :approved;
      UPDATE business_transactions SET body = regexp_replace(body, '"correlationId":"[^"]*"', '"correlationId":"another"')
        WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `trust_records ${approved}: has another transaction or execution authorization than business_transactions`,
    ],
  },
  'the authorization of an execution': {
    sql: `UPDATE business_transactions SET execution_authorization = replace(execution_authorization, '"signature":"', '"signature":"AAAA')
      WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `business_transactions ${approved}: execution authorization does not verify (The execution authorization signature is not valid)`,
      `trust_records ${approved}: does not verify (The trust record hash does not match the canonical record; The trust record signature is not valid; The execution authorization signature is not valid; The stored bytes do not match the trust record hash)`,
    ],
  },
  'the place in the log of a receipt': {
    sql: `UPDATE execution_evidence SET log_batch = gen_random_uuid() WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`receipts ${approved} 1: is neither in the log nor in its queue`],
  },
  'the place of a refusal in its commit': {
    sql: `UPDATE refusal_records SET log_ordinal = 100 WHERE business_transaction_id = :rejected`,
    lines: ({ rejected }) => [`refusal_records ${rejected}: is neither in the log nor in its queue`],
  },
  'an entry that is gone from the log': {
    sql: `
      DELETE FROM log_queue WHERE batch = (SELECT log_batch FROM webhook_events WHERE event_id = 'poison_waits');
      DELETE FROM log_batches WHERE batch = (SELECT log_batch FROM webhook_events WHERE event_id = 'poison_waits')`,
    find: { event: `SELECT event_key AS key FROM webhook_events WHERE event_id = 'poison_waits'` },
    lines: (_, { event }) => [`webhook_events ${event}: is neither in the log nor in its queue`],
  },
  'a space in a transaction': {
    sql: `UPDATE business_transactions SET body = body || ' ' WHERE business_transaction_id = :unknownPolicy`,
    lines: ({ unknownPolicy }) => [`business_transactions ${unknownPolicy}: body is not canonical JSON`],
  },
  'the caller of a transaction': {
    sql: `UPDATE business_transactions SET caller_id = 'mallory' WHERE business_transaction_id = :unknownPolicy`,
    lines: ({ unknownPolicy }) => [
      `business_transactions ${unknownPolicy}: caller differs from submittedBy in the body`,
    ],
  },
  'the time of a transaction': {
    sql: `UPDATE business_transactions SET created_at = created_at - interval '1 day' WHERE business_transaction_id = :unknownPolicy`,
    lines: ({ unknownPolicy }) => [`business_transactions ${unknownPolicy}: time differs from the body`],
  },
  'two transactions that were swapped': {
    sql: `UPDATE business_transactions AS t SET body = o.body FROM business_transactions AS o
      WHERE t.business_transaction_id = :unknownPolicy AND o.business_transaction_id = :hanging`,
    lines: ({ unknownPolicy }) => [
      `business_transactions ${unknownPolicy}: body names another transaction`,
      `business_transactions ${unknownPolicy}: time differs from the body`,
    ],
  },
  'the authorization of an execution in doubt': {
    sql: `UPDATE business_transactions SET execution_authorization = replace(execution_authorization, '"callerId":"tester"', '"callerId":"mallory"')
      WHERE business_transaction_id = :inDoubt`,
    lines: ({ inDoubt }) => [
      `business_transactions ${inDoubt}: execution authorization does not verify (The execution authorization signature is not valid; The execution authorization is not bound to this transaction)`,
    ],
  },
  'a missing authorization': {
    sql: `UPDATE business_transactions SET execution_authorization = NULL WHERE business_transaction_id = :inDoubt`,
    lines: ({ inDoubt }) => [
      `in_doubt_intents ${inDoubt}: execution intent is missing`,
      `released_batches ${inDoubt}: transaction was not released`,
    ],
  },
  'a missing transaction': {
    sql: `DELETE FROM business_transactions WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`trust_records ${approved}: transaction is missing`],
  },
  'an open intent whose batch is gone': {
    sql: `DELETE FROM released_batches WHERE :inDoubt = ANY (ids)`,
    lines: ({ inDoubt }) => [`business_transactions ${inDoubt}: ${NO_END}`],
  },
  'an open intent that was taken out of its batch': {
    find: { batch: 'SELECT batch AS key FROM released_batches WHERE :inDoubt = ANY (ids)' },
    sql: `UPDATE released_batches SET ids = array_remove(ids, :inDoubt) WHERE :inDoubt = ANY (ids)`,
    lines: ({ inDoubt }, { batch }) => [
      `business_transactions ${inDoubt}: ${NO_END}`,
      `released_batches ${batch}: names no execution`,
    ],
  },
  'a batch of an execution that was never heard of': {
    find: { batch: 'SELECT batch AS key FROM released_batches WHERE :inDoubt = ANY (ids)' },
    sql: `UPDATE released_batches SET ids = ids || '00000000-0000-4000-8000-000000000000'::uuid WHERE :inDoubt = ANY (ids)`,
    lines: (_, { batch }) => [`released_batches ${batch}: names an execution whose transaction is missing`],
  },
  'an open intent of a refused transaction': {
    sql: `UPDATE released_batches SET ids = ids || :rejected::uuid WHERE :inDoubt = ANY (ids)`,
    lines: ({ rejected }) => [`released_batches ${rejected}: transaction was not released`],
  },
  'an intent in two batches': {
    sql: `INSERT INTO released_batches VALUES (gen_random_uuid(), ARRAY[:inDoubt::uuid], now())`,
    lines: ({ inDoubt }) => [`released_batches ${inDoubt}: is in more than one batch of open intents`],
  },
  'a missing record': {
    sql: `DELETE FROM execution_evidence WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`business_transactions ${approved}: ${NO_END}`],
  },
  'a missing record with appended evidence': {
    sql: `DELETE FROM execution_evidence WHERE business_transaction_id = :verifiedTwice`,
    lines: ({ verifiedTwice }) => [
      `business_transactions ${verifiedTwice}: ${NO_END}`,
      ...[2, 3].flatMap((ordinal) => [
        `receipts ${verifiedTwice} ${ordinal}: trust record is missing`,
        `verifications ${verifiedTwice} ${ordinal}: trust record is missing`,
      ]),
    ],
  },
  'a failure that is called a success': {
    sql: `UPDATE execution_evidence SET errored = false WHERE business_transaction_id = :failed`,
    lines: ({ failed }) => [`trust_records ${failed}: end of its intent differs from the body`],
  },
  'a success that is called a failure': {
    sql: `UPDATE execution_evidence SET errored = true WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`trust_records ${approved}: end of its intent differs from the body`],
  },
  'an intent that was opened again': {
    sql: `INSERT INTO released_batches VALUES (gen_random_uuid(), ARRAY[:approved::uuid], now())`,
    lines: ({ approved }) => [
      `released_batches ${approved}: is still open, but has a trust record: finalize it`,
    ],
  },
  'a resolved intent that was opened again': {
    sql: `INSERT INTO released_batches VALUES (gen_random_uuid(), ARRAY[:resolved::uuid], now())`,
    find: {
      transition:
        'SELECT transition_id AS key FROM intent_transitions WHERE business_transaction_id = :resolved',
    },
    lines: ({ resolved }, { transition }) => [
      `intent_transitions ${transition}: execution intent is not in the state that this transition led to`,
      `released_batches ${resolved}: is still open, but a transition says how it ended`,
    ],
  },
  'a missing transition': {
    sql: `DELETE FROM intent_transitions WHERE business_transaction_id = :resolved`,
    lines: ({ resolved }) => [`business_transactions ${resolved}: ${NO_END}`],
  },
  'an endless deadline': {
    sql: `UPDATE business_transactions SET deadline = 'infinity' WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`business_transactions ${approved}: deadline is not a timestamp`],
  },
  'a batch with an endless deadline': {
    find: { batch: 'SELECT batch AS key FROM released_batches WHERE :inDoubt = ANY (ids)' },
    sql: `UPDATE released_batches SET deadline = 'infinity' WHERE :inDoubt = ANY (ids)`,
    lines: (_, { batch }) => [`released_batches ${batch}: deadline is not a timestamp`],
  },
  'an intent of the release before, as it was': { sql: ofBefore('approved'), lines: () => [] },
  'an open intent of the release before, as it was': { sql: ofBefore('inDoubt'), lines: () => [] },
  'another nonce': {
    sql: `${ofBefore('approved')} UPDATE execution_intents_before SET nonce = 'AAAAAAAAAAAAAAAAAAAAAA'`,
    lines: ({ approved }) => [
      `execution_intents_before ${approved}: nonce differs from the execution authorization`,
    ],
  },
  'an intent of the release before whose transaction is missing': {
    sql: `${ofBefore('approved')} DELETE FROM business_transactions WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `execution_intents_before ${approved}: transaction is missing`,
      `trust_records ${approved}: transaction is missing`,
    ],
  },
  'a record that the release before stored, and that is missing': {
    sql: `${ofBefore('approved')} DELETE FROM execution_evidence WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `execution_intents_before ${approved}: is FINALIZED, but its trust record is missing`,
    ],
  },
  'a record of a failure that the release before stored, and that is missing': {
    sql: `${ofBefore('failed')} DELETE FROM execution_evidence WHERE business_transaction_id = :failed`,
    lines: ({ failed }) => [
      `execution_intents_before ${failed}: is ERRORED, but neither a trust record nor a transition says so`,
    ],
  },
  'a failure that the release before is said to have called a success': {
    sql: `${ofBefore('failed')} UPDATE execution_intents_before SET state = 'FINALIZED'`,
    lines: ({ failed }) => [
      `execution_intents_before ${failed}: is FINALIZED, but its trust record says ERRORED`,
    ],
  },
  'a success that the release before is said to have called a failure': {
    sql: `${ofBefore('approved')} UPDATE execution_intents_before SET state = 'ERRORED'`,
    lines: ({ approved }) => [
      `execution_intents_before ${approved}: is ERRORED, but its trust record says FINALIZED`,
    ],
  },
  'an intent that was resolved by nobody': {
    sql: `${ofBefore('inDoubt')} UPDATE execution_intents_before SET state = 'RESOLVED', resolution = 'NOT_EXECUTED', closed_at = now();
      DELETE FROM released_batches WHERE :inDoubt = ANY (ids)`,
    lines: ({ inDoubt }) => [`execution_intents_before ${inDoubt}: is RESOLVED, but no transition says so`],
  },
  'an open intent that the release before has closed': {
    sql: `${ofBefore('approved')} INSERT INTO released_batches VALUES (gen_random_uuid(), ARRAY[:approved::uuid], now())`,
    lines: ({ approved }) => [
      `released_batches ${approved}: is still open, but has a trust record: finalize it`,
      `released_batches ${approved}: is still open, but was closed by the release before`,
    ],
  },
  'another resolution': {
    sql: `${ofBefore('resolved')} UPDATE execution_intents_before SET resolution = 'NOT_EXECUTED'`,
    find: {
      transition:
        'SELECT transition_id AS key FROM intent_transitions WHERE business_transaction_id = :resolved',
    },
    lines: ({ resolved }, { transition }) => [
      `execution_intents_before ${resolved}: is RESOLVED, but no transition says so`,
      `intent_transitions ${transition}: execution intent is not in the state that this transition led to`,
    ],
  },
  'the note of a transition': {
    sql: `UPDATE intent_transitions SET body = replace(body, 'provider says', 'weather says') WHERE business_transaction_id = :resolved`,
    find: {
      transition:
        'SELECT transition_id AS key FROM intent_transitions WHERE business_transaction_id = :resolved',
    },
    lines: (_, { transition }) => [
      `intent_transitions ${transition}: does not verify (The signature of the transition is not valid)`,
      `intent_transitions ${transition}: ${NOT_ITS_ENTRY}`,
    ],
  },
  'the place in the log of a transition': {
    sql: `UPDATE intent_transitions AS t SET log_batch = o.log_batch, log_ordinal = o.log_ordinal FROM intent_transitions AS o
      WHERE t.business_transaction_id = :resolved AND o.business_transaction_id = :finalizedByHand`,
    find: {
      transition:
        'SELECT transition_id AS key FROM intent_transitions WHERE business_transaction_id = :resolved',
    },
    lines: (_, { transition }) => [`intent_transitions ${transition}: ${NOT_ITS_ENTRY}`],
  },
  'when an intent was closed': {
    sql: `${ofBefore('finalizedByHand')} UPDATE execution_intents_before SET closed_at = closed_at + interval '1 h'`,
    find: {
      transition:
        'SELECT transition_id AS key FROM intent_transitions WHERE business_transaction_id = :finalizedByHand',
    },
    lines: (_, { transition }) => [
      `intent_transitions ${transition}: execution intent is not in the state that this transition led to`,
    ],
  },
  'an end without a time': {
    sql: `${ofBefore('approved')} UPDATE execution_intents_before SET closed_at = NULL`,
    lines: ({ approved }) => [`execution_intents_before ${approved}: closed_at does not fit the state`],
  },
  'one byte of a record': {
    sql: `UPDATE execution_evidence SET body = replace(body, '"amount":42', '"amount":41') WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `trust_records ${approved}: does not verify (The trust record hash does not match the canonical record; The trust record signature is not valid; The execution authorization is not bound to this transaction; The execution authorization is not bound to this decision; The stored bytes do not match the trust record hash)`,
    ],
  },
  'a signature of a record': {
    sql: `UPDATE execution_evidence AS t SET seal = o.seal FROM execution_evidence AS o
      WHERE t.business_transaction_id = :approved AND o.business_transaction_id = :other`,
    lines: ({ approved }) => [
      `trust_records ${approved}: does not verify (The trust record hash does not match the canonical record; The trust record signature is not valid; The stored bytes do not match the trust record hash)`,
    ],
  },
  'a member beside a record that nothing signs': {
    sql: `UPDATE execution_evidence SET seal = replace(seal, '{"signature"', '{"note":1,"signature"') WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`trust_records ${approved}: seal has members that no signature covers`],
  },
  'the owner of a record': {
    sql: `UPDATE execution_evidence SET caller_id = 'mallory' WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`trust_records ${approved}: caller differs from the transaction's`],
  },
  'the time of a record': {
    sql: `UPDATE execution_evidence SET created_at = created_at + interval '1 ms' WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [`trust_records ${approved}: time differs from the body`],
  },
  'a missing verification': {
    sql: `UPDATE execution_evidence SET verification = NULL WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `receipts ${approved} 1: names a verification that is missing or not VERIFIED`,
      `trust_records ${approved}: verifications are missing or not numbered from 1 without a gap`,
    ],
  },
  'a verification out of the middle': {
    sql: `DELETE FROM appended_verifications WHERE business_transaction_id = :verifiedTwice AND ordinal = 2`,
    lines: ({ verifiedTwice }) => [
      `receipts ${verifiedTwice} 2: names a verification that is missing or not VERIFIED`,
      `trust_records ${verifiedTwice}: verifications are missing or not numbered from 1 without a gap`,
    ],
  },
  'a verification that is called failed': {
    sql: `UPDATE execution_evidence SET verification = replace(verification, '"VERIFIED"', '"FAILED"') WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `receipts ${approved} 1: names a verification that is missing or not VERIFIED`,
      `verifications ${approved} 1: is the first verification, but not VERIFIED`,
    ],
  },
  'swapped verifications': {
    sql: `UPDATE execution_evidence AS t SET verification = o.verification FROM execution_evidence AS o
      WHERE t.business_transaction_id = :approved AND o.business_transaction_id = :other`,
    lines: ({ approved }) => [
      `receipts ${approved} 1: names a verification that is missing or not VERIFIED`,
      `verifications ${approved} 1: is VERIFIED, but its hash differs from the trust record's`,
      `verifications ${approved} 1: names another transaction`,
    ],
  },
  'swapped receipts': {
    sql: `UPDATE execution_evidence AS t SET receipt = o.receipt FROM execution_evidence AS o
      WHERE (t.business_transaction_id, o.business_transaction_id) IN ((:approved, :other), (:other, :approved))`,
    lines: ({ approved, other }) =>
      [approved, other].flatMap((id) => [
        `receipts ${id} 1: names another transaction`,
        `receipts ${id} 1: hash differs from the trust record's`,
        `receipts ${id} 1: names a verification that is missing or not VERIFIED`,
      ]),
  },
  'when a receipt was issued': {
    sql: `UPDATE execution_evidence SET receipt = replace(receipt, '"issuedAt":"2', '"issuedAt":"3') WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `receipts ${approved} 1: does not verify (The receipt hash does not match the canonical receipt; The receipt signature is not valid)`,
    ],
  },
  'a missing receipt': {
    sql: `UPDATE execution_evidence SET receipt = NULL WHERE business_transaction_id = :verifiedTwice`,
    lines: ({ verifiedTwice }) => [
      `trust_records ${verifiedTwice}: receipts are missing or not numbered from 1 without a gap`,
    ],
  },
  'the reason of a refusal': {
    sql: `UPDATE refusal_records SET body = replace(body, '"outcome":"REJECTED"', '"outcome":"APPROVED"') WHERE business_transaction_id = :rejected`,
    lines: ({ rejected }) => [
      `refusal_records ${rejected}: does not verify (The refusal record hash does not match the canonical record; The refusal record signature is not valid; The decision is not a refusal of this intent)`,
    ],
  },
  'a refusal in the place of another': {
    sql: `UPDATE refusal_records AS t SET body = o.body, seal = o.seal FROM refusal_records AS o
      WHERE t.business_transaction_id = :rejected AND o.business_transaction_id = :denied`,
    lines: ({ rejected }) => [
      `refusal_records ${rejected}: does not refuse what the transaction asks for`,
      `refusal_records ${rejected}: names another transaction`,
      `refusal_records ${rejected}: time differs from the body`,
    ],
  },
  'a refusal of what was released': {
    sql: `INSERT INTO refusal_records SELECT :approved, caller_id, created_at, body, seal FROM refusal_records WHERE business_transaction_id = :rejected`,
    lines: ({ approved }) => [
      `business_transactions ${approved}: was released, but has a refusal record`,
      `refusal_records ${approved}: does not refuse what the transaction asks for`,
      `refusal_records ${approved}: names another transaction`,
    ],
  },
  'an audit event': {
    sql: `UPDATE audit_events SET body = replace(body, 'maker', 'mayor') WHERE event_id = (SELECT event_id FROM audit_events WHERE ${RESOLVED})`,
    find: { event: `SELECT event_id AS key FROM audit_events WHERE ${RESOLVED}` },
    lines: (_, { event }) => [
      `audit_events ${event}: does not verify (The audit event signature is not valid)`,
      `audit_events ${event}: ${NOT_ITS_ENTRY}`,
    ],
  },
  'the type of an audit event': {
    sql: `UPDATE audit_events SET type = 'intent.in_doubt' WHERE type = 'approval.delivered' AND strpos(body, :usedApproval::text) > 0`,
    find: {
      event: `SELECT event_id AS key FROM audit_events WHERE type = 'approval.delivered' AND strpos(body, :usedApproval::text) > 0`,
    },
    lines: ({ usedApproval }, { event }) => [
      `approvals ${usedApproval}: audit event approval.delivered is missing`,
      `audit_events ${event}: columns differ from the body`,
    ],
  },
  'a passkey that logs in with another key': {
    sql: `UPDATE login_passkeys SET public_key_pem = replace(public_key_pem, 'M', 'N') WHERE login_passkey_id = :loginPasskey`,
    lines: ({ loginPasskey }) => [
      `login_passkeys ${loginPasskey}: no audit event says that it was registered as it stands`,
    ],
  },
  'a passkey that nobody registered': {
    sql: `UPDATE login_passkeys SET login_passkey_id = :approved, caller_id = 'checker' WHERE login_passkey_id = :loginPasskey`,
    lines: ({ approved }) => [
      `login_passkeys ${approved}: no audit event says that it was registered as it stands`,
    ],
  },
  'a passkey that was removed': {
    sql: `
      UPDATE login_passkeys SET login_passkey_id = (regexp_match(e.body, '"loginPasskeyId":"([^"]*)"'))[1]::uuid
      FROM audit_events AS e WHERE e.type = 'login_passkey.removed'`,
    find: {
      removed: `SELECT (regexp_match(body, '"loginPasskeyId":"([^"]*)"'))[1] AS key FROM audit_events WHERE type = 'login_passkey.removed'`,
    },
    lines: (_, { removed }) => [
      `login_passkeys ${removed}: is there, though its audit event says that it was removed`,
      `login_passkeys ${removed}: no audit event says that it was registered as it stands`,
    ],
  },
  'a missing audit event of a change': {
    sql: `DELETE FROM audit_events WHERE type = 'governance.approved' AND strpos(body, :policyChange::text) > 0`,
    lines: ({ policyChange }) => [
      `pending_changes ${policyChange}: audit event of the resolution is missing`,
    ],
  },
  'a missing audit event of a resolution': {
    sql: `DELETE FROM audit_events WHERE ${RESOLVED}`,
    find: {
      transition:
        'SELECT transition_id AS key FROM intent_transitions WHERE business_transaction_id = :resolved',
    },
    lines: (_, { transition }) => [`intent_transitions ${transition}: audit event is missing`],
  },
  'an approval that is made unused again': {
    sql: `UPDATE approvals SET consumed_by = NULL, consumed_at = NULL WHERE approval_id = :usedApproval::text`,
    lines: ({ usedApproval, byApproval }) => [
      `approvals ${usedApproval}: is not marked as consumed by ${byApproval}, whose trust record contains it`,
    ],
  },
  'a missing approval': {
    sql: `DELETE FROM approvals WHERE approval_id = :usedApproval::text`,
    find: {
      event: `SELECT event_id AS key FROM audit_events WHERE type = 'approval.delivered' AND strpos(body, :usedApproval::text) > 0`,
    },
    lines: ({ usedApproval, byApproval }, { event }) => [
      `approvals ${usedApproval}: is missing, but the trust record of ${byApproval} contains it`,
      `audit_events ${event}: names approval ${usedApproval}, which is missing`,
    ],
  },
  // In a text of PostgreSQL there is none: asked for it, the server would end the snapshot, and with it the run.
  'an id that holds a NUL': {
    sql: `UPDATE audit_events SET body = replace(body, :usedApproval::text, '\\u0000')
      WHERE type = 'approval.delivered' AND strpos(body, :usedApproval::text) > 0`,
    find: {
      event: `SELECT event_id AS key FROM audit_events
        WHERE type = 'approval.delivered' AND strpos(body, :usedApproval::text) > 0`,
    },
    lines: ({ usedApproval }, { event }) => [
      `approvals ${usedApproval}: audit event approval.delivered is missing`,
      `audit_events ${event}: does not verify (The audit event signature is not valid)`,
      `audit_events ${event}: ${NOT_ITS_ENTRY}`,
    ],
  },
  'an approval that another execution is said to have used': {
    sql: `UPDATE approvals SET consumed_by = :approved, consumed_at = now() WHERE approval_id = :unusedApproval::text`,
    lines: ({ unusedApproval }) => [
      `approvals ${unusedApproval}: is not in the trust record of the execution that consumed it`,
    ],
  },
  'the limit of an approval': {
    sql: `UPDATE approvals SET body = replace(body, '"max":1000', '"max":9999') WHERE approval_id = :unusedApproval::text`,
    lines: ({ unusedApproval }) => [
      `approvals ${unusedApproval}: signature is not the approver's`,
      `approvals ${unusedApproval}: ${NOT_ITS_ENTRY}`,
    ],
  },
  'the target of an approval': {
    sql: `UPDATE approvals SET target = 'test' WHERE approval_id = :unusedApproval::text`,
    lines: ({ unusedApproval }) => [`approvals ${unusedApproval}: columns differ from the body`],
  },
  'a policy': {
    sql: `UPDATE authority SET stated = replace(stated, 'Few enough.', 'Whatever.') WHERE key = 'limited/1.0.0'`,
    lines: () => ['authority policy limited/1.0.0: what it states does not match its hash'],
  },
  'a policy with its hash': {
    sql: `UPDATE authority SET stated = replace(stated, 'Yes.', 'No.'),
      stated_hash = encode(sha256(convert_to(replace(stated, 'Yes.', 'No.'), 'UTF8')), 'hex') WHERE key = 'limited/2.0.0'`,
    lines: () => ['authority policy limited/2.0.0: differs from what the change says'],
  },
  'a policy with its hash that released something': {
    sql: `UPDATE authority SET stated = replace(stated, 'Few enough.', 'Whatever.'),
      stated_hash = encode(sha256(convert_to(replace(stated, 'Few enough.', 'Whatever.'), 'UTF8')), 'hex') WHERE key = 'limited/1.0.0'`,
    lines: ({ limited }) => [
      `business_transactions ${limited}: was released under a policy version that is not stored as approved with that content`,
    ],
  },
  'a policy that was approved by nobody': {
    sql: `INSERT INTO authority (kind, key, target, stated, stated_hash, began_by, began_at)
      SELECT kind, 'limited/9.0.0', 'limited/9.0.0', replace(stated, '"policyVersion":"2.0.0"', '"policyVersion":"9.0.0"'),
        encode(sha256(convert_to(replace(stated, '"policyVersion":"2.0.0"', '"policyVersion":"9.0.0"'), 'UTF8')), 'hex'), 'genesis', now()
      FROM authority WHERE key = 'limited/2.0.0'`,
    lines: () => [
      'authority policy limited/9.0.0: is approved by genesis, but was not present at the first start',
    ],
  },
  'a version that is retired, as if it were in effect': {
    sql: `UPDATE authority SET ended_by = NULL, ended_at = NULL, ended_by_change = NULL WHERE key = 'limited/2.0.0'`,
    lines: ({ retirement }) => [
      `pending_changes ${retirement}: is APPROVED, but a version that it retires is in effect`,
    ],
  },
  'a version in effect, as if another change had retired it': {
    sql: `UPDATE authority SET ended_by = 'checker', ended_at = now(), ended_by_change = :policyChange WHERE key = 'limited/2.1.0'`,
    lines: ({ policyChange }) => [
      'authority policy limited/2.1.0: its end differs from what the changes say',
      `pending_changes ${policyChange}: is APPROVED, but a version that it retires is in effect`,
    ],
  },
  'webhook rules': {
    sql: `UPDATE authority SET stated = replace(stated, 'executed', 'not_executed') WHERE target = 'acme'`,
    find: { row: `SELECT key FROM authority WHERE target = 'acme'` },
    lines: (_, { row }) => [
      `authority webhook-rules ${row}: differs from what the change says`,
      `authority webhook-rules ${row}: what it states does not match its hash`,
    ],
  },
  'webhook rules with their hash': {
    sql: `UPDATE authority SET stated = replace(stated, 'executed', 'not_executed'),
      stated_hash = encode(sha256(convert_to(replace(stated, 'executed', 'not_executed'), 'UTF8')), 'hex') WHERE target = 'acme'`,
    find: { row: `SELECT key FROM authority WHERE target = 'acme'` },
    lines: (_, { row }) => [`authority webhook-rules ${row}: differs from what the change says`],
  },
  'webhook rules of another provider': {
    sql: `UPDATE authority SET stated = replace(stated, '"bank"', '"stripe"'),
      stated_hash = encode(sha256(convert_to(replace(stated, '"bank"', '"stripe"'), 'UTF8')), 'hex') WHERE target = 'bank'`,
    find: {
      row: `SELECT key FROM authority WHERE target = 'bank'`,
    },
    lines: (_, { row }) => [`authority webhook-rules ${row}: states something of another name or key`],
  },
  'webhook rules that were approved by nobody': {
    sql: `INSERT INTO authority (kind, key, target, stated, stated_hash, began_by, began_at)
      SELECT kind, '00000000-0000-4000-8000-000000000021', 'bunk', replace(stated, '"bank"', '"bunk"'),
        encode(sha256(convert_to(replace(stated, '"bank"', '"bunk"'), 'UTF8')), 'hex'), 'genesis', now()
      FROM authority WHERE target = 'bank'`,
    lines: () => [
      'authority webhook-rules 00000000-0000-4000-8000-000000000021: is approved by genesis, but was not present at the first start',
    ],
  },
  'webhook rules that are gone': {
    sql: `DELETE FROM authority WHERE target = 'acme'`,
    lines: ({ rulesChange }) => [`pending_changes ${rulesChange}: is APPROVED, but nothing took effect`],
  },
  'a missing change': {
    sql: `DELETE FROM pending_changes WHERE change_id = :policyChange`,
    find: {
      nonce: `SELECT nonce AS key FROM step_up_nonces WHERE change_id = :policyChange`,
      proposal: `SELECT event_id AS key FROM audit_events WHERE type = 'governance.proposed' AND strpos(body, :policyChange::text) > 0`,
      approval: `SELECT event_id AS key FROM audit_events WHERE type = 'governance.approved' AND strpos(body, :policyChange::text) > 0`,
    },
    lines: ({ policyChange }, { nonce, proposal, approval }) => [
      ...[proposal, approval].map(
        (event) => `audit_events ${event}: names change ${policyChange}, which is missing`,
      ),
      'authority policy limited/2.0.0: differs from what the change says (change is missing or not resolved)',
      'authority policy limited/2.0.0: the change in began_by_change is missing',
      `step_up_nonces ${nonce}: its signed act is missing: change_id names neither a change nor a statement on an execution in doubt`,
    ],
  },
  'what a change proposed': {
    sql: `UPDATE pending_changes SET body = replace(body, '"reason":"newer', '"reason":"older') WHERE change_id = :policyChange`,
    lines: ({ policyChange }) => [
      `pending_changes ${policyChange}: does not verify as proposed (The change hash does not match what was proposed; The signature of the change is not valid)`,
    ],
  },
  'who resolved a change': {
    sql: `UPDATE pending_changes SET resolved_body = replace(resolved_body, '"resolvedBy":"checker"', '"resolvedBy":"somebody"') WHERE change_id = :enrolment`,
    lines: ({ enrolment }) => [
      'authority approver alice:k1: differs from what the change says',
      `pending_changes ${enrolment}: does not verify as resolved (The signature of the change is not valid)`,
      `pending_changes ${enrolment}: ${NOT_ITS_ENTRY}`,
    ],
  },
  'a step-up that can be used again': {
    sql: `DELETE FROM step_up_nonces WHERE change_id = :enrolment`,
    lines: ({ enrolment }) => [`pending_changes ${enrolment}: the nonce of the step-up is not consumed`],
  },
  'an approved change without effect': {
    sql: `DELETE FROM authority WHERE key = :connector::text`,
    lines: ({ connector }) => [`pending_changes ${connector}: is APPROVED, but nothing took effect`],
  },
  'the endpoint of an external connector': {
    sql: `UPDATE authority SET stated = regexp_replace(stated, '"endpointUrl":"[^"]*"', '"endpointUrl":"https://9.9.9.9/"') WHERE key = :connector::text`,
    lines: ({ connector }) => [
      `authority external-connector ${connector}: differs from what the change says`,
      `authority external-connector ${connector}: what it states does not match its hash`,
    ],
  },
  'an external connector that is revoked by nobody': {
    sql: `UPDATE authority SET ended_at = now() WHERE key = :connector::text`,
    lines: ({ connector }) => [
      `authority external-connector ${connector}: its end differs from what the changes say`,
    ],
  },
  'where events are pushed to': {
    sql: `UPDATE authority SET target = 'https://9.9.9.9/', stated = replace(stated, target, 'https://9.9.9.9/'),
      stated_hash = encode(sha256(convert_to(replace(stated, target, 'https://9.9.9.9/'), 'UTF8')), 'hex') WHERE key = :endpoint::text`,
    lines: ({ endpoint }) => [`authority event-endpoint ${endpoint}: differs from what the change says`],
  },
  'which events are pushed': {
    sql: `UPDATE authority SET stated = regexp_replace(regexp_replace(stated, '(withParameters".)false', '\\1true'), '"callerIds".[^]]*],', ''),
      stated_hash = encode(sha256(convert_to(regexp_replace(regexp_replace(stated, '(withParameters".)false', '\\1true'), '"callerIds".[^]]*],', ''), 'UTF8')), 'hex') WHERE key = :endpoint::text`,
    lines: ({ endpoint }) => [`authority event-endpoint ${endpoint}: differs from what the change says`],
  },
  'an event endpoint that is revoked by nobody': {
    sql: `UPDATE authority SET ended_at = now() WHERE key = :endpoint::text`,
    lines: ({ endpoint }) => [
      `authority event-endpoint ${endpoint}: its end differs from what the changes say`,
      `event_deliveries ${endpoint}: no such event endpoint is in effect`,
    ],
  },
  'how far an event endpoint was served': {
    sql: `DELETE FROM event_deliveries WHERE endpoint_id = :endpoint`,
    lines: ({ endpoint }) => [
      `authority event-endpoint ${endpoint}: is in effect, but how far it was served is missing`,
    ],
  },
  'when a group of approvers began': {
    sql: `UPDATE authority SET began_at = began_at + interval '1 day' WHERE key = :group::text`,
    lines: ({ group, byManager }) => [
      `authority approver-group ${group}: differs from what the change says`,
      `authority approver-group ${group}: was not in effect at the decision of ${byManager}, whose trust record counts a member by it`,
    ],
  },
  'that there is a group of approvers': {
    sql: `DELETE FROM authority WHERE key = :group::text`,
    lines: ({ group, byManager }) => [
      `authority approver-group ${group}: is missing, but the trust record of ${byManager} counts a member by it`,
      `pending_changes ${group}: is APPROVED, but nothing took effect`,
    ],
  },
  'what a key of a caller allows': {
    sql: `UPDATE authority SET stated = replace(stated, 'echo', 'fail'),
      stated_hash = encode(sha256(convert_to(replace(stated, 'echo', 'fail'), 'UTF8')), 'hex') WHERE unique_key = :callerKey::text`,
    lines: ({ callerKey }) => [`authority caller-key agent:${callerKey}: differs from what the change says`],
  },
  'a key of a caller that comes back': {
    sql: `UPDATE authority SET ended_by = NULL, ended_at = NULL, ended_by_change = NULL WHERE unique_key = :revokedKey::text`,
    find: {
      change: `SELECT ended_by_change AS key FROM authority WHERE unique_key = :revokedKey::text`,
    },
    lines: (_, { change }) => [`pending_changes ${change}: is APPROVED, but nothing took effect`],
  },
  'when a key of a caller was revoked': {
    sql: `UPDATE authority SET ended_at = ended_at - interval '1 day' WHERE unique_key = :revokedKey::text`,
    lines: ({ revokedKey }) => [
      `authority caller-key agent:${revokedKey}: its end differs from what the changes say`,
    ],
  },
  'a key of a caller without effect': {
    sql: `DELETE FROM authority WHERE unique_key = :callerKey::text`,
    lines: ({ issue }) => [`pending_changes ${issue}: is APPROVED, but nothing took effect`],
  },
  'a key of an approver': {
    sql: `UPDATE authority SET stated = replace(o.stated, '"old"', '"k1"'),
      stated_hash = encode(sha256(convert_to(replace(o.stated, '"old"', '"k1"'), 'UTF8')), 'hex')
      FROM (SELECT stated FROM authority WHERE key LIKE 'alice_old') AS o WHERE key LIKE 'alice_k1'`,
    lines: ({ usedApproval, unusedApproval, approvalOfRequest, byApproval, byRequest }) => [
      ...[unusedApproval, usedApproval, approvalOfRequest].map(
        (approval) => `approvals ${approval}: signature is not the approver's`,
      ),
      'authority approver alice:k1: differs from what the change says',
      'authority approver alice:k1: states something of another name or key',
      ...[byApproval, byRequest].map(
        (id) =>
          `trust_records ${id}: does not verify (The verified signals cannot be verified (the approval by "alice" is not signed by that approver))`,
      ),
    ],
  },
  'a key of an approver that nobody has enrolled': {
    sql: `INSERT INTO authority (kind, key, target, stated, stated_hash, unique_key)
      SELECT kind, 'alice' || chr(58) || 'k9', 'alice' || chr(58) || 'k9', stated, stated_hash, 'another' FROM authority WHERE key LIKE 'alice_k1'`,
    lines: () => [
      'authority approver alice:k9: is in effect, but no change began it',
      'authority approver alice:k9: states something of another name or key',
    ],
  },
  'a key of an approver that genesis is said to have enrolled': {
    sql: `UPDATE authority SET began_by = 'genesis', began_by_change = NULL, began_at = g.at, loaded_at = g.at
      FROM (SELECT min(loaded_at) AS at FROM authority WHERE kind = 'policy') AS g WHERE key LIKE 'alice_k1'`,
    lines: ({ enrolment }) => [
      'authority approver alice:k1: is approved by genesis, but was not present at the first start',
      `pending_changes ${enrolment}: is APPROVED, but nothing took effect`,
    ],
  },
  'a missing approver': {
    sql: `DELETE FROM authority WHERE key LIKE 'alice_k1'`,
    lines: ({ enrolment, usedApproval, unusedApproval, approvalOfRequest, byApproval, byRequest }) => [
      ...[unusedApproval, usedApproval, approvalOfRequest].flatMap((approval) => [
        `approvals ${approval}: signature is not the approver's (key 'alice:k1' is not known)`,
        `approvals ${approval}: the approver's key is missing`,
      ]),
      `pending_changes ${enrolment}: is APPROVED, but nothing took effect`,
      ...[byApproval, byRequest].map(
        (id) =>
          `trust_records ${id}: does not verify (The verified signals cannot be verified (key 'alice:k1' is not known))`,
      ),
    ],
  },
  'a key that is no longer revoked': {
    sql: `UPDATE authority SET ended_by = NULL, ended_at = NULL, ended_by_change = NULL WHERE key LIKE 'alice_old'`,
    find: { change: `SELECT ended_by_change AS key FROM authority WHERE key LIKE 'alice_old'` },
    lines: (_, { change }) => [`pending_changes ${change}: is APPROVED, but nothing took effect`],
  },
  'a key of an approver that is revoked by nobody': {
    sql: `UPDATE authority SET ended_at = now() WHERE key LIKE 'alice_k1'`,
    lines: () => ['authority approver alice:k1: its end differs from what the changes say'],
  },
  'a key of an approver that is revoked by the change that enrolled it': {
    sql: `UPDATE authority SET ended_by = began_by, ended_at = now(), ended_by_change = began_by_change WHERE key LIKE 'alice_k1'`,
    lines: () => ['authority approver alice:k1: its end differs from what the changes say'],
  },
  'a key of an approver that is revoked by the change of another': {
    sql: `UPDATE authority SET ended_by_change = :enrolment WHERE key LIKE 'alice_old'`,
    find: { change: `SELECT ended_by_change AS key FROM authority WHERE key LIKE 'alice_old'` },
    lines: (_, { change }) => [
      'authority approver alice:old: its end differs from what the changes say',
      `pending_changes ${change}: is APPROVED, but nothing took effect`,
    ],
  },
  'a missing history entry': {
    sql: `DELETE FROM history_entries WHERE business_transaction_id = :limited`,
    lines: ({ limited }) => [
      `business_transactions ${limited}: was released under a velocity limit, but its history entry is missing`,
    ],
  },
  'a history entry of somebody else': {
    sql: `UPDATE history_entries SET caller_id = 'mallory' WHERE business_transaction_id = :limited`,
    lines: ({ limited }) => [`history_entries ${limited}: caller or policy differs from the transaction's`],
  },
  'a history entry that a limit no longer counts': {
    sql: `UPDATE history_entries SET released_at = released_at - interval '1 day' WHERE business_transaction_id = :limited`,
    lines: ({ limited }) => [`history_entries ${limited}: time differs from the execution authorization`],
  },
  'a history group that a limit misses an execution in': {
    sql: `UPDATE history_groups SET group_hash = encode(sha256('another'), 'hex') WHERE business_transaction_id = :limited`,
    lines: ({ limited }) => [
      `business_transactions ${limited}: was released under a velocity limit with per or where, but is missing in a group that it counts`,
    ],
  },
  'a history group that a limit no longer counts': {
    sql: `UPDATE history_groups SET released_at = released_at - interval '1 day' WHERE business_transaction_id = :limited`,
    find: {
      group: `SELECT business_transaction_id || ' ' || left(group_hash, 16) AS key FROM history_groups WHERE business_transaction_id = :limited`,
    },
    lines: (_, { group }) => [`history_groups ${group}: time differs from the execution authorization`],
  },
  'the word of a provider': {
    sql: `UPDATE provider_confirmations SET body = replace(body, '"says":"not_executed"', '"says":"executed"')`,
    find: {
      confirmation: `SELECT confirmation_id AS key FROM provider_confirmations WHERE strpos(body, '"says":"not_executed"') > 0`,
    },
    lines: (_, { confirmation }) => [
      `provider_confirmations ${confirmation}: does not verify (The signature of the confirmation is not valid)`,
    ],
  },
  'whose confirmation it is': {
    sql: `UPDATE provider_confirmations SET business_transaction_id = :approved WHERE strpos(body, '"says":"not_executed"') > 0`,
    find: {
      confirmation: `SELECT confirmation_id AS key FROM provider_confirmations WHERE strpos(body, '"says":"not_executed"') > 0`,
    },
    lines: (_, { confirmation }) => [`provider_confirmations ${confirmation}: columns differ from the body`],
  },
  'a missing confirmation': {
    sql: `DELETE FROM provider_confirmations WHERE business_transaction_id = :confirmed`,
    find: {
      event: `SELECT event_id AS key FROM audit_events WHERE type = 'confirmation.contradicts'`,
      confirmation: `SELECT confirmation_id AS key FROM provider_confirmations WHERE strpos(body, '"says":"not_executed"') > 0`,
      transition:
        'SELECT transition_id AS key FROM intent_transitions WHERE business_transaction_id = :confirmed',
    },
    lines: (_, { event, confirmation, transition }) => [
      `audit_events ${event}: names confirmation ${confirmation}, which is missing`,
      `intent_transitions ${transition}: names a confirmation that is missing`,
    ],
  },
  'a missing delivery of a confirmation': {
    sql: `DELETE FROM webhook_events WHERE provider = 'bank' AND outcome = 'contradicted'`,
    find: {
      event: `SELECT event_key AS key FROM webhook_events WHERE provider = 'bank' AND outcome = 'contradicted'`,
      confirmation: `SELECT confirmation_id AS key FROM provider_confirmations WHERE strpos(body, '"says":"not_executed"') > 0`,
    },
    lines: (_, { event, confirmation }) => [
      `audit_events ${event}: names delivery ${event}, which is missing`,
      `provider_confirmations ${confirmation}: delivery is missing`,
    ],
  },
  'a declined approval request that is opened again': {
    sql: `UPDATE approval_requests SET status = 'OPEN' WHERE request_id = :declinedRequest`,
    lines: ({ declinedRequest }) => [
      `approval_requests ${declinedRequest}: status differs from how it was closed`,
    ],
  },
  'a used approval request that is opened again': {
    sql: `UPDATE approval_requests SET status = 'OPEN' WHERE request_id = :usedRequest`,
    lines: ({ usedRequest }) => [`approval_requests ${usedRequest}: status differs from its approvals`],
  },
  'an approval request that is said to be over': {
    sql: `UPDATE approval_requests SET status = 'EXPIRED' WHERE request_id = :usedRequest`,
    lines: ({ usedRequest }) => [
      `approval_requests ${usedRequest}: expired before its time`,
      `approval_requests ${usedRequest}: status differs from its approvals`,
    ],
  },
  'an approval request of somebody else': {
    sql: `UPDATE approval_requests SET requested_by = 'mallory' WHERE request_id = :usedRequest`,
    lines: ({ usedRequest }) => [`approval_requests ${usedRequest}: columns differ from the body`],
  },
  'an approval that is made one for no request': {
    sql: `UPDATE approvals SET request_hash = NULL WHERE request_hash IS NOT NULL`,
    find: { approval: 'SELECT approval_id AS key FROM approvals WHERE request_hash IS NOT NULL' },
    lines: ({ usedRequest }, { approval }) => [
      `approval_requests ${usedRequest}: status differs from its approvals`,
      `approvals ${approval}: columns differ from the body`,
    ],
  },
  'a missing close of an approval request': {
    sql: `DELETE FROM approval_request_closes WHERE request_id = :declinedRequest`,
    lines: ({ declinedRequest }) => [
      `approval_requests ${declinedRequest}: status differs from how it was closed`,
    ],
  },
  'a missing approval request': {
    sql: `DELETE FROM approval_requests WHERE request_id = :declinedRequest`,
    find: {
      opened: `SELECT event_id AS key FROM audit_events WHERE type = 'approval_request.opened' AND strpos(body, :declinedRequest::text) > 0`,
      declined: `SELECT event_id AS key FROM audit_events WHERE type = 'approval_request.declined'`,
      close: `SELECT close_id AS key FROM approval_request_closes`,
      noted: `SELECT event_id AS key FROM audit_events WHERE type = 'approval_request.noted'`,
      note: `SELECT note_id AS key FROM approval_request_notes`,
    },
    lines: ({ declinedRequest }, { opened, declined, close, noted, note }) => [
      `approval_request_closes ${close}: approval request is missing`,
      `approval_request_notes ${note}: approval request is missing`,
      `audit_events ${noted}: names approval request ${declinedRequest}, which is missing`,
      `audit_events ${declined}: names approval request ${declinedRequest}, which is missing`,
      `audit_events ${opened}: names approval request ${declinedRequest}, which is missing`,
    ],
  },
  'who delivered an approval': {
    sql: `UPDATE approvals SET delivered_by = 'mallory' WHERE approval_id = :unusedApproval::text`,
    lines: ({ unusedApproval }) => [`approvals ${unusedApproval}: audit event approval.delivered is missing`],
  },
  ...Object.fromEntries(
    Object.entries({
      event_id: `'another'`,
      provider: `'somebody'`,
      received_at: `received_at - interval '1 s'`,
    }).map(([column, value]): [string, Damage] => [
      `another ${column} of a processed delivery`,
      {
        sql: `UPDATE webhook_events SET ${column} = ${value} WHERE event_key = (${PROCESSED})`,
        find: { delivery: PROCESSED },
        lines: (_, { delivery }) => [
          `webhook_events ${delivery}: differs from the delivery in its audit event`,
        ],
      },
    ]),
  ),
  'a delivery': {
    sql: `UPDATE webhook_events SET body = body || ' '::bytea WHERE event_id = 'evt_done'`,
    find: { event: `SELECT event_key AS key FROM webhook_events WHERE event_id = 'evt_done'` },
    lines: (_, { event }) => [`webhook_events ${event}: body does not match its hash`],
  },
  'a delivery that was never processed': {
    sql: `UPDATE webhook_events SET processed_at = now() WHERE event_id = 'poison_waits'`,
    find: { event: `SELECT event_key AS key FROM webhook_events WHERE event_id = 'poison_waits'` },
    lines: (_, { event }) => [`webhook_events ${event}: is processed, but its audit event is missing`],
  },
  'a delivery that is not processed any more': {
    sql: `UPDATE webhook_events SET processed_at = NULL WHERE event_id = 'evt_done'`,
    find: { event: `SELECT event_key AS key FROM webhook_events WHERE event_id = 'evt_done'` },
    lines: (_, { event }) => [
      `webhook_events ${event}: is not processed, but an audit event says that it is`,
      `webhook_events ${event}: is not processed, but its job is missing`,
    ],
  },
  'a missing delivery': {
    sql: `DELETE FROM webhook_events WHERE event_id = 'poison_waits'`,
    find: {
      job: `SELECT j.id AS key FROM pgboss.job AS j JOIN webhook_events AS e ON j.data ->> 'id' = e.event_key::text WHERE e.event_id = 'poison_waits' AND j.state < 'completed'`,
    },
    lines: (_, { job }) => [`pgboss.job ${job}: delivery is missing`],
  },
  'an orphan in doubt': {
    sql: `INSERT INTO in_doubt_intents VALUES ('00000000-0000-4000-8000-000000000000', now())`,
    lines: () => ['in_doubt_intents 00000000-0000-4000-8000-000000000000: execution intent is missing'],
  },
  'a whole execution that had used an approval': {
    sql: ['business_transactions', 'execution_evidence']
      .map((table) => `DELETE FROM ${table} WHERE business_transaction_id = :byApproval;`)
      .join(' '),
    lines: ({ usedApproval }) => [
      `approvals ${usedApproval}: is consumed by an execution that was never released`,
    ],
  },
  'a whole execution that a human had closed': {
    sql: ['business_transactions', 'intent_transitions']
      .map((table) => `DELETE FROM ${table} WHERE business_transaction_id = :resolved;`)
      .join(' '),
    find: { event: `SELECT event_id AS key FROM audit_events WHERE ${RESOLVED}` },
    lines: ({ resolved }, { event }) => [`audit_events ${event}: names intent ${resolved}, which is missing`],
  },
  'a lost epoch': {
    sql: `DELETE FROM authority_epoch`,
    lines: () => ['authority_epoch -: does not have exactly one row'],
  },
  'a lost primary key': {
    sql: `ALTER TABLE appended_receipts DROP CONSTRAINT appended_receipts_pkey`,
    lines: () => ['schema appended_receipts_pkey: is missing or not valid'],
  },
  'a first receipt that stands in both tables': {
    sql: `INSERT INTO appended_receipts SELECT * FROM receipts WHERE business_transaction_id = :approved`,
    lines: ({ approved }) => [
      `trust_records ${approved}: receipts are missing or not numbered from 1 without a gap`,
    ],
  },
}

function filled(sql: string): string {
  return sql.replaceAll(
    /(?<!:):([a-zA-Z]+)(::text)?\b/g,
    (_, name: keyof Mix, isText?: string) => `'${mix[name]}'${isText ?? '::uuid'}`,
  )
}

test('before any damage there is none', async () => {
  expect((await checked(database, signingKeyDir)).lines).toEqual([])
})

test.each(Object.keys(DAMAGES))('finds %s, and nothing else', async (name) => {
  const { sql, lines, find = {} } = DAMAGES[name] as Damage
  const others: Record<string, string> = {}
  for (const [other, statement] of Object.entries(find)) {
    const { rows } = await database.pool.query<{ key: string }>(filled(statement))
    others[other] = rows[0]?.key ?? ''
  }
  const found = await checked(database, signingKeyDir, (damaged) => damaged.query(filled(sql)))
  const named = found.lines.map((line) => line.replace(/entry \d+ of \S+\/log\/1/, 'its entry'))
  expect(named.toSorted()).toEqual(lines(mix, others).toSorted())
  expect(found.summary.problems).toBe(found.lines.length)
})

/** One row of each column that is signed, none of which stands beside another. */
const SIGNED: readonly { table: string; column: string; where: string; key?: string }[] = [
  // A transaction without a record has nothing signed but what its authorization is bound to.
  { table: 'business_transactions', column: 'body', where: 'business_transaction_id = :verifiedTwice' },
  {
    table: 'business_transactions',
    column: 'execution_authorization',
    where: 'business_transaction_id = :inDoubt',
  },
  { table: 'execution_evidence', column: 'body', where: 'business_transaction_id = :approved' },
  { table: 'execution_evidence', column: 'seal', where: 'business_transaction_id = :other' },
  { table: 'execution_evidence', column: 'receipt', where: 'business_transaction_id = :limited' },
  { table: 'refusal_records', column: 'body', where: 'business_transaction_id = :rejected' },
  { table: 'refusal_records', column: 'seal', where: 'business_transaction_id = :denied' },
  { table: 'audit_events', column: 'body', where: `type = 'governance.rejected'`, key: 'event_id' },
  {
    table: 'audit_events',
    column: 'seal',
    where: `type = 'webhook.processed' AND strpos(body, 'razorpay') > 0`,
    key: 'event_id',
  },
  {
    table: 'provider_confirmations',
    column: 'body',
    where: `strpos(body, '"says":"executed"') > 0`,
    key: 'confirmation_id',
  },
  {
    table: 'provider_confirmations',
    column: 'seal',
    where: `strpos(body, '"says":"not_executed"') > 0`,
    key: 'confirmation_id',
  },
  { table: 'pending_changes', column: 'body', where: `status = 'PENDING_APPROVAL'`, key: 'change_id' },
  { table: 'pending_changes', column: 'seal', where: 'change_id = :policyChange', key: 'change_id' },
  { table: 'pending_changes', column: 'resolved_body', where: 'change_id = :connector', key: 'change_id' },
  { table: 'pending_changes', column: 'resolved_seal', where: `status = 'REJECTED'`, key: 'change_id' },
  {
    table: 'intent_transitions',
    column: 'body',
    where: 'business_transaction_id = :resolved',
    key: 'transition_id',
  },
  {
    table: 'intent_transitions',
    column: 'seal',
    where: 'business_transaction_id = :finalizedByHand',
    key: 'transition_id',
  },
  { table: 'approvals', column: 'body', where: 'approval_id = :unusedApproval::text', key: 'approval_id' },
  {
    table: 'approval_requests',
    column: 'body',
    where: 'request_id = :usedRequest',
    key: 'request_id',
  },
  {
    table: 'approval_requests',
    column: 'seal',
    where: 'request_id = :declinedRequest',
    key: 'request_id',
  },
  {
    table: 'approval_request_closes',
    column: 'body',
    where: 'request_id = :declinedRequest',
    key: 'close_id',
  },
  {
    table: 'approval_request_notes',
    column: 'body',
    where: 'request_id = :declinedRequest',
    key: 'note_id',
  },
  {
    table: 'authority',
    column: 'stated',
    where: `key = 'limited/1.0.0'`,
    key: 'key',
  },
]

test.each([0, 0.11, 0.23, 0.37, 0.5, 0.61, 0.74, 0.86, 0.999])(
  'one character at %d of any signed column is found, whatever it makes of the text',
  async (place) => {
    const expected: string[] = []
    const { lines } = await checked(database, signingKeyDir, async (damaged) => {
      for (const { table, column, where, key = 'business_transaction_id' } of SIGNED) {
        const row = `${table} WHERE ${filled(where)}`
        const { rows } = await damaged.query<{ key: string; text: string }>(
          `SELECT ${key} AS key, ${column} AS text FROM ${row}`,
        )
        expect(rows).toHaveLength(1)
        const [{ key: id, text } = { key: '', text: '' }] = rows
        const changed = withOneChanged(text, place)
        await damaged.query(`UPDATE ${table} SET ${column} = $1 WHERE ${filled(where)}`, [changed])
        expected.push(id)
      }
    })
    expect(expected.filter((id) => !lines.some((line) => line.includes(` ${id}`)))).toEqual([])
  },
)

/** The time beside a signature is what nobody signs: its place is passed over. */
function withOneChanged(text: string, place: number): string {
  const [time = ''] = /"signedAt":"[^"]*"/.exec(text) ?? []
  const index = time === '' ? text.length : text.indexOf(time)
  const at = Math.floor(place * (text.length - time.length))
  const i = at < index ? at : at + time.length
  return text.slice(0, i) + (text[i] === 'x' ? 'y' : 'x') + text.slice(i + 1)
}
