// The demo's story: four transactions, their evidence verified offline, and one changed byte. What the page shows is compared with
// what the contract says (interface §4.2, §7; decisions §3, §4).
import { randomUUID } from 'node:crypto'
import { CannotRun, type Call, type Reply } from './client.ts'
import { checkRow, heading, paragraph, row } from './page.ts'
import {
  canonical,
  checkReceipt,
  checkRefusal,
  checkTrustRecord,
  recordHash,
  type Check,
  type Members,
  type PublishedKey,
} from './verify-offline.ts'

const ACTION = 'sandbox:echo'

interface Stage {
  readonly call: Call
  readonly principalId: string
  readonly expect: (what: string, actual: unknown, wanted: unknown) => void
}

/**
 * @param options.keyGiven whether `call` sends one
 * @returns a sentence for each thing that was not as it should be
 * @throws CannotRun where the service cannot be reached, or the key may not do what the demo does
 */
export async function tour(call: Call, { keyGiven }: { keyGiven: boolean }): Promise<string[]> {
  const unmet: string[] = []
  const stage: Stage = {
    call,
    principalId: await identify(call, keyGiven),
    expect(what, actual, wanted) {
      if (canonical(actual) !== canonical(wanted))
        unmet.push(`${what}: ${canonical(actual)} instead of ${canonical(wanted)}.`)
    },
  }
  const sent = aTransaction({ principalId: stage.principalId, amount: 42 })
  const record = await approved(stage, sent)
  const refusal = await rejected(stage)
  await duplicate(stage, sent, record)
  await malformed(stage)
  const keys = await publishedKeys(stage)
  offline(stage, { record, refusal, keys })
  oneByteChanged(stage, { record, keys })
  paragraph(
    'A pass proves that the holder of a published key signed these very bytes. It does not prove that they tell the truth, nor whose keys these are.',
  )
  return unmet
}

/** Who the key is and for whom it may act. */
async function identify(call: Call, keyGiven: boolean): Promise<string> {
  const reply = await call('GET', '/callers/me')
  const { callerId, allowedPrincipalIds, allowedCapabilities, unrestrictedCapabilities } = reply.body
  if (reply.status === 404 && 'error' in reply.body) {
    row('caller', 'none: authentication is disabled')
    return 'demo'
  }
  if (reply.status === 401)
    throw new CannotRun(
      `${keyGiven ? 'The service does not know this key; give a valid one' : 'This service needs a key; give one'} as COUNTERSIGN_API_KEY or --key.`,
    )
  if (reply.status !== 200 || !Array.isArray(allowedPrincipalIds) || !Array.isArray(allowedCapabilities))
    throw new CannotRun(`This does not answer like Countersign: GET /callers/me is ${said(reply)}.`)
  if (unrestrictedCapabilities !== true && !allowedCapabilities.includes(ACTION))
    throw new CannotRun(
      `Caller ${String(callerId)} lacks the capability ${ACTION}; the operator adds it to the caller's allowedCapabilities.`,
    )
  const [principalId] = allowedPrincipalIds as string[]
  if (principalId === undefined)
    throw new CannotRun(
      `Caller ${String(callerId)} may act for no principal; the operator adds one to the caller's allowedPrincipalIds.`,
    )
  row('caller', `${String(callerId)}, acting for ${principalId}`)
  return principalId
}

async function execute({ call }: Stage, sent: Transaction): Promise<Reply> {
  const { intent, policy } = sent
  const reply = await call('POST', '/execute', sent)
  row('sent', `${intent.action} ${canonical(intent.parameters)} under ${policy.name} ${policy.version}`)
  row('answer', said(reply))
  return reply
}

async function approved(stage: Stage, sent: Transaction): Promise<Members> {
  const { expect } = stage
  heading('1  An approved transaction')
  const reply = await execute(stage, sent)
  const decision = at(reply.body, 'executions', 0, 'decision')
  row('decision', `${String(at(decision, 'outcome'))}: ${String(at(decision, 'reason'))}`)
  row('record', String(reply.body['trustRecordId']))
  row('receipt', String(at(reply.body, 'receipts', 0, 'receiptId')))
  expect('The answer to the approved transaction', said(reply), '200')
  expect('Its outcome', at(decision, 'outcome'), 'APPROVED')
  expect('The intent in its record', at(reply.body, 'transaction', 'intent'), sent.intent)
  return reply.body
}

async function rejected(stage: Stage): Promise<Members> {
  const { call, expect, principalId } = stage
  heading('2  A rejected one: its amount is 2000')
  const sent = aTransaction({ principalId, amount: 2000 })
  const reply = await execute(stage, sent)
  const refusal = await call('GET', `/refusal/${sent.businessTransactionId}`)
  row('refusal', String(refusal.body['refusalRecordId']))
  const wanted = '500 RUNTIME_ERROR  Execution rejected: Amount above 1000.'
  expect('The answer to the rejected transaction', said(reply), wanted)
  expect('The answer to reading its refusal', said(refusal), '200')
  expect('The intent in its refusal', refusal.body['evaluatedIntent'], sent.intent)
  return refusal.body
}

async function duplicate(stage: Stage, sent: Transaction, record: Members): Promise<void> {
  const { call, expect } = stage
  heading('3  A duplicate: the first one again')
  const reply = await execute(stage, sent)
  const location = String(reply.headers.get('location'))
  const original = await call('GET', `/trust-records/${sent.businessTransactionId}`)
  const state = canonical(original.body) === canonical(record) ? 'unchanged' : 'changed'
  row('original', `${location}, ${state}`)
  const wanted = `409  Business Transaction '${sent.businessTransactionId}' already exists.`
  expect('The answer to the duplicate', said(reply), wanted)
  expect('The original it points to', location, `/trust-records/${sent.businessTransactionId}`)
  expect('The original record', state, 'unchanged')
}

async function malformed(stage: Stage): Promise<void> {
  const { expect, principalId } = stage
  heading('4  A malformed one: its id is "invoice-1001"')
  const sent = aTransaction({ principalId, amount: 42, businessTransactionId: 'invoice-1001' })
  const reply = await execute(stage, sent)
  const wanted = '400  businessTransactionId must be a valid UUID.'
  expect('The answer to the malformed transaction', said(reply), wanted)
}

async function publishedKeys({ call, expect }: Stage): Promise<PublishedKey[]> {
  heading('5  Verified offline, with the published keys and nothing else')
  const reply = await call('GET', '/.well-known/jwks.json')
  expect('The answer to reading the keys', said(reply), '200')
  const keys = (reply.body['keys'] ?? []) as PublishedKey[]
  row('keys', keys.map(({ keyId }) => keyId).join(' '))
  return keys
}

interface Evidence {
  readonly record: Members
  readonly keys: readonly PublishedKey[]
}

function offline(stage: Stage, { record, refusal, keys }: Evidence & { refusal: Members }): void {
  shown(stage, { of: 'record', checks: checkTrustRecord(record, keys), failing: [] })
  shown(stage, { of: 'receipt', checks: checkReceipt(firstReceipt(record), record, keys), failing: [] })
  shown(stage, { of: 'refusal', checks: checkRefusal(refusal, keys), failing: [] })
}

function oneByteChanged(stage: Stage, { record, keys }: Evidence): void {
  heading('6  One byte of the record changed: the executed amount is now 43')
  const text = canonical(record).replace('"parameters":{"amount":42}', '"parameters":{"amount":43}')
  const changed = JSON.parse(text) as Members
  const failing = ['hash', 'signature', 'binding']
  shown(stage, { of: 'record', checks: checkTrustRecord(changed, keys), failing })
  shown(stage, {
    of: 'receipt',
    checks: checkReceipt(firstReceipt(record), changed, keys),
    failing: ['record'],
  })

  heading('7  The same, with its hash recomputed to match')
  const rehashed = { ...changed, trustRecordHash: recordHash(changed) }
  shown(stage, { of: 'record', checks: checkTrustRecord(rehashed, keys), failing: ['signature', 'binding'] })
}

function shown(
  { expect }: Stage,
  { of, checks, failing }: { of: string; checks: Check[]; failing: string[] },
): void {
  for (const [i, check] of checks.entries()) checkRow(i === 0 ? of : '', check)
  const failed = checks.filter(({ holds }) => !holds).map(({ name }) => name)
  expect(`The checks of the ${of} that fail`, failed, failing)
}

function firstReceipt(record: Members): Members {
  return (at(record, 'receipts', 0) ?? {}) as Members
}

/** Status, code and message, as far as there are any. */
function said({ status, body: { code, error } }: Reply): string {
  return `${status}${typeof code === 'string' ? ` ${code}` : ''}${typeof error === 'string' ? `  ${error}` : ''}`
}

/** What stands at a path of parsed JSON; undefined where the path ends early. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Members | null | undefined)?.[name], value)
}

type Transaction = ReturnType<typeof aTransaction>

/** One that policy sandbox-echo 1.0.0 approves, up to an amount of 1000. */
function aTransaction({
  principalId,
  amount,
  businessTransactionId = randomUUID(),
}: {
  principalId: string
  amount: number
  businessTransactionId?: string
}) {
  const authorityId = randomUUID()
  const authorizationId = randomUUID()
  const now = new Date().toISOString()
  return {
    businessTransactionId,
    metadata: { businessTransactionId, sourceSystem: 'demo' },
    authority: { authorityId, authorityType: 'SERVICE', principalId, issuedAt: now },
    authorization: { authorizationId, authorityId, purpose: 'demo', issuedAt: now },
    intent: {
      intentId: randomUUID(),
      authorizationId,
      action: ACTION,
      target: 'demo',
      parameters: { amount },
      createdAt: now,
    },
    policy: { name: 'sandbox-echo', version: '1.0.0', schemaVersion: '1.0.0' },
    signals: { approved: true, amount },
  }
}
