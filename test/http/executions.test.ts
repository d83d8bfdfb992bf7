// GET /executions: the catalogue, which a background thread fills behind the evidence.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { fillCatalogue } from '../../src/core/catalogue/follow.ts'
import { openDocuments } from '../../src/core/catalogue/row.ts'
import { cellText } from '../../src/formats/text/csv.ts'
import { codesMask, eventTypes } from '../../src/formats/schemas/event-types.ts'
import { readStanding } from '../../src/store/tables/catalogue-state.ts'
import { runCommand } from '../command.ts'
import type { TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { addPolicy } from '../policies.ts'
import { aCaller, reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const human = aCaller('olive', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })
const other = aCaller('other', { allowedPrincipalIds: ['tester'] })

let database: TestDatabase
let service: TestService
withService((made) => ({ database, service } = made), {
  callers: [human.entry, auditor.entry, other.entry],
  addPolicies(folder) {
    const policy = { version: '1.0.0', capability: 'sandbox:echo', display: { 'sandbox:echo': display } }
    addPolicy(folder, { name: 'paying', ...policy })
    addPolicy(folder, { name: 'limited', ...policy, ...limitedTo(500) })
    addPolicy(folder, { name: 'asking', ...policy, verify: { approved: { by: 'approval', quorum: 1 } } })
  },
})

const display = {
  text: 'Pay {intent.parameters.amount} {intent.parameters.currency} to {intent.target}, {intent.parameters.note}.',
  amount: 'intent.parameters.amount',
  currency: 'intent.parameters.currency',
}

/** Members of a policy that bounds what a target is paid in a day. */
const limitedTo = (limit: number) => ({
  signals: { paid: 'number' },
  verify: { paid: { by: 'history', window: '24h', sum: display.amount, per: ['target', display.currency] } },
  rules: [
    {
      id: 'too-much',
      when: `signals.paid + intent.parameters.amount > ${limit}.0`,
      outcome: 'reject',
      reason: 'Too much in a day.',
    },
    { id: 'within', when: 'true', outcome: 'approve', reason: 'Within the limit.' },
  ],
})

interface Paid {
  readonly target: string
  readonly amount?: unknown
  readonly approved?: boolean
  readonly parameters?: object
}

function payment({ target, amount = 10, approved = true, parameters }: Paid) {
  return aTransaction({
    policy: { name: 'paying' },
    intent: { target, parameters: { amount, currency: 'EUR', note: 'one', ...parameters } },
    signals: { approved },
  })
}

async function execute(paid: Paid, key = service.key): Promise<string> {
  const transaction = payment(paid)
  await service.post('/execute', transaction, { key })
  return transaction.businessTransactionId
}

/** Until everything that is stored is in the catalogue. */
async function followed(): Promise<void> {
  const codes = codesMask(eventTypes)
  await until(async () => {
    const standing = await readStanding(database.pool, { codes, before: null })
    return (
      standing !== undefined &&
      !standing.behind &&
      !standing.queued &&
      !standing.building &&
      !standing.unfilled
    )
  }, 'the catalogue')
}

interface Listed {
  readonly businessTransactionId: string
  readonly [member: string]: unknown
}

async function found(query: string, key = human.key): Promise<Listed[]> {
  const { status, body } = await service.get(`/executions${query}`, { key })
  expect(status, JSON.stringify(body)).toBe(200)
  return (body as { executions: Listed[] }).executions
}
const ids = (listed: readonly Listed[]) => listed.map(({ businessTransactionId: id }) => id)

const exported = (accept: string, query = '', key = human.key) =>
  service.get(`/executions${query}`, { key, headers: { Accept: accept } })

const counted = async (query: string, key = human.key) => {
  const { status, body } = await service.get(`/statistics${query}`, { key })
  expect(status, JSON.stringify(body)).toBe(200)
  return body as { buckets: { start: string; groups: object[] }[]; since: string; until: string }
}

const refusals = async (query: string, key = human.key) =>
  ids(((await service.get(`/refusals${query}`, { key })).body as { refusals: Listed[] }).refusals)

const rows = async () =>
  (await database.pool.query('SELECT * FROM catalogue_entries ORDER BY business_transaction_id')).rows

const command = (...args: string[]) =>
  runCommand(args, { DATABASE_URL: database.url, SIGNING_KEY_DIR: service.signingKeyDir })

const inTwoYears = () => Date.now() + 730 * 24 * 60 * 60 * 1000

const made: Record<'first' | 'second' | 'refused' | 'theirs' | 'doubted' | 'closed', string> = {
  first: '',
  second: '',
  refused: '',
  theirs: '',
  doubted: '',
  closed: '',
}
beforeAll(async () => {
  made.first = await execute({ target: 'vendor-17', amount: 250.5 })
  made.second = await execute({ target: 'Vendor-44', amount: 84_250.75, parameters: { note: 'two words' } })
  made.refused = await execute({ target: 'vendor-17', amount: 9, approved: false })
  made.theirs = await execute({ target: 'vendor-17', amount: 1 }, other.key)
  await followed()
  made.doubted = await execute({ target: 'vendor-doubt', amount: 7_600 })
  made.closed = await execute({ target: 'vendor-doubt', amount: 7_600 })
  for (const id of [made.doubted, made.closed]) await putInDoubt(database, id)
  await until(async () => (await found('?status=in_doubt')).length === 2, 'both in doubt')
  const word = { resolution: 'EXECUTED', note: 'The bank says so.' }
  expect((await service.post(`/execution-intents/${made.closed}/resolve`, word, human)).status).toBe(200)
  await followed()
})

describe('GET /executions 200', () => {
  test('shows what an execution did, in the words and with the amount of its policy', async () => {
    const [entry] = await found(`?target=vendor-44`)
    expect(entry).toMatchObject({
      businessTransactionId: made.second,
      status: 'completed',
      callerId: 'tester',
      principalId: 'tester',
      capability: 'sandbox:echo',
      target: 'Vendor-44',
      policyName: 'paying',
      policyVersion: '1.0.0',
      rule: 'approved',
      summary: 'Pay 84250.75 EUR to Vendor-44, "two words".',
      amount: 84_250.75,
      currency: 'EUR',
    })
    const { createdAt } = (await service.get(`/trust-records/${made.second}`, human)).body as {
      createdAt: string
    }
    expect(entry).toMatchObject({ completedAt: createdAt })
    expect(Object.keys(entry!)).not.toContain('search')
  })

  test('says how each ended: completed, refused, in doubt, or as somebody said', async () => {
    const standing = new Map(
      (await found('?pageSize=100')).map(({ businessTransactionId: id, status, resolution }) => [
        id,
        [status, resolution],
      ]),
    )
    expect(standing).toEqual(
      new Map([
        [made.first, ['completed', undefined]],
        [made.second, ['completed', undefined]],
        [made.refused, ['refused', undefined]],
        [made.theirs, ['completed', undefined]],
        [made.doubted, ['in_doubt', undefined]],
        [made.closed, ['completed', 'EXECUTED']],
      ]),
    )
  })

  test.each<[string, (keyof typeof made)[]]>([
    ['?status=refused', ['refused']],
    ['?target=VENDOR-17', ['theirs', 'refused', 'first']],
    ['?target=vendor', []],
    [
      '?capability=SANDBOX:echo&policy=Paying&policyVersion=1.0.0&rule=approved&target=vendor-17',
      ['theirs', 'first'],
    ],
    ['?callerId=Other', ['theirs']],
    ['?minAmount=250.5&maxAmount=7600', ['closed', 'doubted', 'first']],
    ['?minAmount=7600.01', ['second']],
    ['?currency=eur&status=in_doubt', ['doubted']],
    ['?currency=USD', []],
    ['?q=OR-4', ['second']],
    ['?q=84250.75', ['second']],
    // As pages print amounts.
    ['?q=84,250.75%20EUR', ['second']],
    ['?q=250.50', ['first']],
    ['?q=two%20wor', ['second']],
    ['?q=17%0A9', ['refused']],
    ['?q=%25%25%25', []],
    ['?q=___', []],
    ['?until=2020-01-01T00:00:00Z', []],
    ['?since=2999-01-01T00:00:00Z', []],
  ])('%s finds %j, newest first', async (query, names) => {
    expect(ids(await found(query))).toEqual(names.map((name) => made[name]))
  })

  test('finds an execution by the beginning of its id', async () => {
    expect(ids(await found(`?q=${made.first.slice(0, 13).toUpperCase()}`))).toEqual([made.first])
  })

  // proves abuse: A caller looks for the executions of others in the catalogue
  test("shows callers their own, whatever they filter by, and an auditor everybody's", async () => {
    expect(ids(await found('', other.key))).toEqual([made.theirs])
    for (const query of [
      '?callerId=tester',
      '?callerId=Other',
      '?q=vendor-44',
      `?q=${made.first}`,
      '?target=Vendor-44',
    ])
      expect(ids(await found(query, other.key)), query).toEqual([])
    expect(await found('', auditor.key)).toHaveLength(6)
  })

  test('goes page by page, and says how far it reaches', async () => {
    const seen: string[] = []
    let path: string | undefined = '/executions?pageSize=2&policy=paying'
    while (path !== undefined) {
      const { body, headers } = await service.get(path, human)
      const { executions, completeUntil, completeSince } = body as {
        executions: Listed[]
        completeUntil: string
        completeSince: null
      }
      seen.push(...ids(executions))
      expect(Date.now() - Date.parse(completeUntil)).toBeLessThan(60_000)
      expect(completeSince).toBeNull()
      path = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1]
    }
    expect(seen).toEqual(ids(await found('?pageSize=100')))
    expect(new Set(seen).size).toBe(6)
  })
})

describe('GET /executions 400', () => {
  // proves abuse: SQL, patterns of LIKE or a cursor
  test.each([
    ['?status=done', 'status must be one of completed, failed, refused, in_doubt.'],
    ['?q=ab', 'q must be 3 to 100 characters.'],
    [`?q=${'x'.repeat(101)}`, 'q must be 3 to 100 characters.'],
    ['?minAmount=1e3', 'minAmount must be a decimal number such as 250 or 99.95.'],
    ["?maxAmount=1'--", 'maxAmount must be a decimal number such as 250 or 99.95.'],
    ['?since=yesterday', 'since must be an RFC 3339 timestamp.'],
    ['?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', 'since must not be after until.'],
    ['?cursor=x', 'cursor must be one that a Link header gave.'],
    ['?page=0', 'page must be a whole number, 1 or more.'],
    ['?pageSize=101', 'pageSize'],
    ['?states=refused', '"states" is no query parameter of this path'],
  ])('%s', async (query, sentence) => {
    const { status, body } = await service.get(`/executions${query}`, human)
    expect(status).toBe(400)
    expect((body as { error: string }).error).toContain(sentence)
  })
})

describe('GET /executions as an export', () => {
  test('as NDJSON answers the whole range, and a last line that counts it', async () => {
    const { text } = await exported('application/x-ndjson', '?target=vendor-17')
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines).toEqual([
      ...(await found('?target=vendor-17')),
      { exportEnd: { kind: 'execution', callerId: null, count: 3, since: null, until: null } },
    ])
  })

  test('as CSV answers a line for each, below the names of the columns', async () => {
    const { text, headers } = await exported('text/csv', '?target=vendor-44')
    expect(headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present')
    const [names, values, end] = text.split('\r\n')
    expect(names!.split(',').slice(0, 2)).toEqual(['businessTransactionId', 'status'])
    expect(values).toContain(`${made.second},completed,`)
    expect(values).toContain(`"Pay 84250.75 EUR to Vendor-44, ""two words"".",84250.75,EUR,`)
    expect(end).toBe('')
  })

  // proves abuse: A target that a spreadsheet would compute
  test.each([
    ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
    ['+1', "'+1"],
    ['-1+2', "'-1+2"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['a,b', '"a,b"'],
    ['a\r\nb', '"a\r\nb"'],
    ['vendor-1', 'vendor-1'],
    [-9.5, '-9.5'],
    [null, ''],
  ])('writes %j as %j', (cell, written) => {
    expect(cellText(cell)).toBe(written)
  })

  test('has no page of its own', async () => {
    const { status, body } = await exported('text/csv', '?pageSize=5')
    expect([status, (body as { error: string }).error]).toEqual([
      400,
      'pageSize is not for text/csv, which answers the whole range.',
    ])
  })

  // proves abuse: A caller looks for the executions of others in the catalogue
  test('holds no execution of another caller', async () => {
    for (const accept of ['application/x-ndjson', 'text/csv']) {
      const { text } = await exported(accept, '', other.key)
      expect(text).toContain(made.theirs)
      for (const id of [made.first, made.second, made.doubted]) expect(text).not.toContain(id)
    }
  })
})

describe('GET /statistics', () => {
  test('counts, and sums amounts by currency', async () => {
    const { buckets, since, until: end } = await counted('?by=status')
    expect(Date.parse(end) - Date.parse(since)).toBe(24 * 60 * 60 * 1000)
    expect(buckets).toEqual([
      {
        start: since,
        groups: [
          { key: 'completed', count: 4, sums: [{ currency: 'EUR', amount: 250.5 + 84_250.75 + 1 + 7_600 }] },
          { key: 'in_doubt', count: 1, sums: [{ currency: 'EUR', amount: 7_600 }] },
          { key: 'refused', count: 1, sums: [{ currency: 'EUR', amount: 9 }] },
        ],
      },
    ])
  })

  test.each([
    ['?bucket=day&by=callerId', ['other', 'tester']],
    ['?bucket=hour&by=rule&status=refused', [null]],
    ['?by=policy&target=vendor-17', ['paying']],
    ['?by=capability', ['sandbox:echo']],
    ['?by=target&bucket=month&status=completed', ['vendor-17', 'Vendor-44', 'vendor-doubt']],
    // All others are one group.
    ['?by=target&status=completed&groups=1', ['vendor-17', null]],
    ['?by=target&status=completed&groups=1&order=amount', ['Vendor-44', null]],
    ['', [null]],
  ])('%s groups by %j', async (query, keys) => {
    const { buckets } = await counted(query)
    const groups = buckets.flatMap(({ groups: some }) => some as { key: string | null }[])
    expect(new Set(groups.map(({ key }) => key))).toEqual(new Set(keys))
  })

  test('says by which currency it has ordered, where it has', async () => {
    const path = '?by=target&status=completed'
    expect(await counted(`${path}&order=amount`)).toMatchObject({ orderedBy: { currency: 'EUR' } })
    expect(await counted(`${path}&order=amount&currency=GBP`)).toMatchObject({ orderedBy: {}, buckets: [] })
    expect(await counted(`${path}&order=count`)).not.toHaveProperty('orderedBy')
    const wrong = await service.get('/statistics?order=sum', human)
    expect(reply(wrong)).toEqual({ status: 400, body: { error: 'order must be one of count, amount.' } })
  })

  // proves abuse: A caller looks for the executions of others in the catalogue
  test("sums callers' own alone", async () => {
    const { buckets } = await counted('?by=callerId', other.key)
    expect(buckets[0]?.groups).toEqual([{ key: 'other', count: 1, sums: [{ currency: 'EUR', amount: 1 }] }])
  })

  // proves abuse: A range of years by minutes
  test.each([
    ['?bucket=minute&since=2020-01-01T00:00:00Z', 'bucket must be larger'],
    ['?bucket=second', 'bucket must be one of minute, hour, day, month.'],
    ['?limits=no', 'limits must be one of true, false.'],
    ['?by=principal', 'by must be one of status, capability, target, policy, rule, callerId.'],
    ['?since=2999-01-01T00:00:00Z', 'since must not be after until'],
  ])('%s answers 400', async (query, sentence) => {
    const { status, body } = await service.get(`/statistics${query}`, human)
    expect([status, (body as { error: string }).error]).toEqual([400, expect.stringContaining(sentence)])
  })
})

describe('GET /search', () => {
  interface Hits {
    readonly executions: Listed[]
    readonly [kind: string]: unknown
  }
  const hits = async (q: string, key = human.key) => {
    const { status, body } = await service.get(`/search?q=${encodeURIComponent(q)}`, { key })
    expect(status, JSON.stringify(body)).toBe(200)
    return body as Hits
  }

  test('finds executions, targets, callers and policies by part of a word, five of each at most', async () => {
    const byTarget = await hits('ENDOR-')
    expect(byTarget.executions).toHaveLength(5)
    expect(byTarget).toMatchObject({
      targets: ['vendor-doubt', 'vendor-17', 'Vendor-44'],
      callers: [],
      policies: [],
      completeSince: null,
    })
    expect(await hits('payin')).toMatchObject({ policies: ['paying'], executions: [] })
    expect(await hits('LIV')).toMatchObject({ callers: ['olive'] })
    expect(ids((await hits(made.refused.slice(0, 8))).executions)).toEqual([made.refused])
  })

  // proves abuse: A caller looks for the executions of others in the catalogue
  test('shows callers their own, and themselves', async () => {
    expect(await hits('vendor-', other.key)).toMatchObject({ targets: ['vendor-17'] })
    expect(ids((await hits('vendor-', other.key)).executions)).toEqual([made.theirs])
    expect(await hits('olive', other.key)).toMatchObject({ callers: [] })
    expect(await hits('othe', other.key)).toMatchObject({ callers: ['other'] })
  })

  test.each(['', '?q=ab'])('/search%s answers 400', async (query) => {
    expect(reply(await service.get(`/search${query}`, human))).toEqual({
      status: 400,
      body: { error: expect.stringMatching(/^q must be 3 to 100 characters/) as string },
    })
  })
})

describe('the filters of other lists', () => {
  test('GET /refusals finds by what the catalogue knows', async () => {
    expect(await refusals('?target=VENDOR-17&maxAmount=10')).toEqual([made.refused])
    expect(await refusals('?q=vendor-17')).toEqual([made.refused])
    expect(await refusals('?minAmount=10')).toEqual([])
    expect(await refusals('?q=vendor-17', other.key)).toEqual([])
    expect(await refusals('?callerId=tester')).toContain(made.refused)
  })
})

// Last: it changes what is stored.
describe('the catalogue', () => {
  test('is the same when it is built again, and fsck finds nothing in it', async () => {
    const before = await rows()
    const { status, stdout, stderr } = await command('catalogue', 'rebuild')
    expect([status, stdout, stderr]).toEqual([0, 'The catalogue is built: 6 executions.\n', ''])
    expect(await rows()).toEqual(before)
    const checked = await command('fsck', '--json')
    expect(checked.stdout).not.toContain('"table":"catalogue')
  })

  test('is compared with the evidence: a row that was changed, one that is missing, one of nothing', async () => {
    const { pool } = database
    await pool.query(`UPDATE catalogue_entries SET amount = 1 WHERE business_transaction_id = $1::uuid`, [
      made.first,
    ])
    await pool.query(`DELETE FROM catalogue_entries WHERE business_transaction_id = $1::uuid`, [made.refused])
    await pool.query(
      `INSERT INTO catalogue_entries SELECT (jsonb_populate_record(c, jsonb_build_object('business_transaction_id', gen_random_uuid()))).*
       FROM catalogue_entries AS c WHERE business_transaction_id = $1::uuid`,
      [made.second],
    )
    const { stdout } = await command('fsck')
    expect(stdout).toContain(
      `catalogue_entries ${made.first}: differs from the evidence: run countersign catalogue rebuild`,
    )
    expect(stdout).toContain(
      `catalogue_entries ${made.refused}: is missing: run countersign catalogue rebuild`,
    )
    expect(stdout).toMatch(/catalogue_entries [0-9a-f-]{36}: is of no transaction/)
  })

  test('keeps entries for CATALOGUE_DAYS, and says since when it is complete', async () => {
    await command('catalogue', 'rebuild')
    const tools = { pool: database.pool, documents: openDocuments(), days: 400 }
    // Two at once: one of them has the lock, and the other leaves it to that one.
    const filled = await Promise.all([1, 2].map(() => fillCatalogue({ ...tools, nowMs: inTwoYears })))
    expect(filled.filter(({ more }) => more).length).toBeGreaterThan(0)
    expect(await rows()).toEqual([])
    const { body } = await service.get('/executions', human)
    expect(body).toMatchObject({ executions: [] })
    expect(Date.parse((body as { completeSince: string }).completeSince)).toBeGreaterThan(Date.now())
  })
})

/** @returns the status of a payment under the policy with a limit */
async function payLimited(target: string, amount: number): Promise<number> {
  const transaction = payment({ target, amount })
  const policy = { ...transaction.policy, name: 'limited' }
  return (await service.post('/execute', { ...transaction, policy, signals: {} })).status
}

test('statistics say what is used of a limit: what was paid, and nothing that was refused', async () => {
  const paid = [await payLimited('vendor-17', 300), await payLimited('vendor-17', 150)]
  paid.push(await payLimited('vendor-17', 51), await payLimited('vendor-44', 5))
  expect(paid).toEqual([200, 200, 500, 200])
  await followed()
  const limit = { policy: 'limited', policyVersion: '1.0.0', signal: 'paid', window: '24h', limit: 500 }
  const used = [
    { target: 'vendor-17', currency: 'EUR', count: 2, amount: 450 },
    { target: 'vendor-44', currency: 'EUR', count: 1, amount: 5 },
  ]
  expect(await counted('')).toMatchObject({ limits: [{ ...limit, per: ['target', 'currency'], used }] })
  expect(await counted('', other.key)).toMatchObject({ limits: [{ ...limit, used: [] }] })
  expect(await counted('?limits=false')).toMatchObject({ limits: [] })
})

const approvableOf = async (query: string) =>
  Object.fromEntries(
    (await found(query)).map(({ businessTransactionId: id, approvable }) => [id, approvable]),
  )

describe('a refusal that approvals would have lifted', () => {
  let lifted: string
  let final: string
  beforeAll(async () => {
    // The tests before this one have pruned it.
    await command('catalogue', 'rebuild')
    const target = `vendor-${randomUUID()}`
    const asking = payment({ target })
    lifted = asking.businessTransactionId
    const policy = { ...asking.policy, name: 'asking' }
    const { status } = await service.post('/execute', { ...asking, policy })
    expect(status).toBe(403)
    final = await execute({ target, approved: false })
    await followed()
  })
  test('is refused as before, and says so wherever refusals are listed, counted and exported', async () => {
    expect(await approvableOf('?status=refused')).toMatchObject({ [lifted]: true, [final]: false })
    expect(await approvableOf('?approvable=true')).toEqual({ [lifted]: true })
    const others = await approvableOf('?approvable=false&pageSize=100')
    expect(others).toMatchObject({ [final]: false })
    expect(others).not.toHaveProperty(lifted)
    expect(new Set(Object.values(others))).toEqual(new Set([undefined, false]))
    expect(await refusals('?approvable=true')).toEqual([lifted])
    expect(await refusals('?approvable=false')).not.toContain(lifted)

    const { buckets } = await counted('?by=status&approvable=true')
    expect(buckets).toMatchObject([{ groups: [{ key: 'refused', count: 1 }] }])
    const inAll = await counted('?status=refused')
    const forGood = await counted('?status=refused&approvable=false')
    const count = ({ buckets: [bucket] }: typeof inAll) => (bucket!.groups[0] as { count: number }).count
    expect(count(inAll)).toBe(count(forGood) + 1)

    const { text } = await exported('text/csv', '?approvable=true')
    const [names, values] = text.split('\r\n')
    expect([names?.split(',').at(-2), values?.split(',').at(-2)]).toEqual(['approvable', 'true'])
    const wrong = await service.get('/executions?approvable=yes', human)
    expect(reply(wrong)).toEqual({ status: 400, body: { error: 'approvable must be one of true, false.' } })
  })

  test('is filled in where a release before wrote the entry, and fsck knows both', async () => {
    const before = await rows()
    // The service of this file may fill in what it finds at any time: what is asked for is what it comes to.
    await database.pool.query('UPDATE catalogue_entries SET approvable = NULL')
    expect((await command('fsck')).stdout).toContain('No problems.')
    await until(async () => (await found('?approvable=true')).length === 1, 'the entry to be filled in')
    await followed()
    expect(await rows()).toEqual(before)
    await database.pool.query(
      'UPDATE catalogue_entries SET approvable = true WHERE business_transaction_id = $1::uuid',
      [final],
    )
    expect((await command('fsck')).stdout).toContain(`catalogue_entries ${final}: differs from the evidence`)
  })
})

// Last, because the tests before it count what is in the catalogue.
test('with Prefer: wait an empty page waits for an execution that fits, of the caller alone where it reads its own', async () => {
  const target = `vendor-wait-${randomUUID()}`
  const waiting = async (seconds: number, key: string) => {
    const path = `/executions?target=${target}`
    const { status, body } = await service.get(path, { key, headers: { Prefer: `wait=${seconds}` } })
    expect(status, JSON.stringify(body)).toBe(200)
    return ids((body as { executions: Listed[] }).executions)
  }
  expect(await waiting(1, human.key)).toEqual([])
  const [all, own] = [waiting(30, human.key), waiting(30, other.key)]
  // One that does not fit wakes nobody for good.
  await execute({ target: 'vendor-17', amount: 1 })
  const first = await execute({ target })
  expect(await all).toEqual([first])
  const theirs = await execute({ target }, other.key)
  expect(await own).toEqual([theirs])
  expect(new Set(await waiting(30, auditor.key))).toEqual(new Set([first, theirs]))
})
