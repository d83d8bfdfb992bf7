// POST /sandbox/policies/simulate (decisions §9): exactly the past decisions that a document would flip, each caller its own, chunk
// by chunk, and nothing changes. Last, the command that follows it.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Check } from 'typebox/value'
import { IMPACT_REPORT_BYTES_MAX } from '../../src/formats/impact-report.ts'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { ImpactReport } from '../../src/formats/schemas/impact-report.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import document from '../../src/server/openapi/examples/simulated-policy.json' with { type: 'json' }
import { rowsOfEveryTable, type TestDatabase } from '../database.ts'
import { addPolicy } from '../policies.ts'
import { aCaller, reply, type CallOptions, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'
import { bundledEnvironment } from '../run/environment.ts'

const other = aCaller('other')
const auditor = aCaller('auditor', { readAll: true })
const newcomer = aCaller('newcomer')
const bulk = aCaller('bulk')
const refunder = aCaller('refunder')
const payer = { name: 'payer', version: '1.0.0' }

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [other, auditor, newcomer, bulk, refunder].map(({ entry }) => entry),
  addPolicies(folder) {
    addPolicy(folder, { ...payer, capability: 'vendor:pay' })
    mkdirSync(join(folder, 'refund', '1.0.0'), { recursive: true })
    // JSON is YAML.
    writeFileSync(join(folder, 'refund', '1.0.0', 'policy.yaml'), JSON.stringify(refund))
  },
})

/** Asks for a human's approval. */
const refund = {
  ...document,
  policyId: 'refund',
  policyVersion: '1.0.0',
  verify: { approved: { by: 'approval', quorum: 1 } },
}

/** Rejects what is above 10, and approves what is above 1000: both kinds of flip. */
const upsideDown = {
  ...document,
  rules: [
    { id: 'huge', when: 'signals.amount > 1000.0', outcome: 'approve', reason: 'Huge.' },
    ...document.rules,
  ],
}
const amount = (value: number) => ({
  intent: { parameters: { amount: value } },
  signals: { amount: value },
})

const simulate = async (body: object, options: CallOptions = {}) => {
  const answer = await service.post('/sandbox/policies/simulate', body, options)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const idsOf = (flips: { businessTransactionId: string }[]) =>
  flips.map(({ businessTransactionId }) => businessTransactionId)

async function executed(
  transaction: ReturnType<typeof aTransaction>,
  status: number,
  options: CallOptions = {},
): Promise<string> {
  expect((await service.post('/execute', transaction, options)).status).toBe(status)
  return transaction.businessTransactionId
}

describe('POST /sandbox/policies/simulate 200', () => {
  let mine: Record<'small' | 'large' | 'huge' | 'denied' | 'failed', string>
  let foreign: string

  beforeAll(async () => {
    mine = {
      small: await executed(aTransaction(amount(5)), 200),
      large: await executed(aTransaction(amount(42)), 200),
      huge: await executed(aRejectedTransaction(), 500),
      denied: await executed(aMismatchedTransaction(), 403),
      failed: await executed(
        aTransaction({ intent: { parameters: { amount: 43, fail: true } }, signals: { amount: 43 } }),
        500,
      ),
    }
    // Never decided: an unknown version; and of another policy, without connector.
    await executed(aTransaction({ policy: { version: '9.9.9' } }), 404)
    await executed(aTransaction({ policy: payer, intent: { action: 'vendor:pay' } }), 500)
    // Says the name of the policy where it is none.
    await executed(
      aTransaction({
        policy: { name: 'none' },
        intent: { parameters: { amount: 42, policy: { name: 'sandbox-echo', version: '1.0.0' } } },
      }),
      404,
    )
    foreign = await executed(aTransaction({ ...amount(42), authority: { principalId: 'other' } }), 200, other)
  })

  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('exactly the flips of mixed decisions, newest first, and nobody else’s', async () => {
    const answer = await simulate({ policy: upsideDown })
    expect(idsOf(answer.flips)).toEqual([mine.failed, mine.huge, mine.large])
    expect(answer).toMatchObject({
      complete: true,
      progress: { examined: 8, decided: 5, share: 1 },
      unchanged: 2,
      skipped: 1,
    })
    expect(answer).not.toHaveProperty('next')
    expect(answer.flips[1]).toEqual({
      businessTransactionId: mine.huge,
      createdAt: expect.any(String),
      summary: 'sandbox:echo → test',
      amount: 2000,
      was: { outcome: 'REJECTED', reason: 'Amount above 1000.' },
      wouldBe: { outcome: 'APPROVED', reason: 'Huge.', matchedRuleId: 'huge' },
    })
    expect(answer.flips[2]).toMatchObject({
      was: { outcome: 'APPROVED' },
      wouldBe: { outcome: 'REJECTED', reason: 'Amount above 10.', matchedRuleId: 'too-large' },
    })
  })

  test('a caller sees its own, one who may read all sees all, a newcomer none', async () => {
    expect(idsOf((await simulate({ policy: document }, other)).flips)).toEqual([foreign])
    expect(idsOf((await simulate({ policy: document }, auditor)).flips).toSorted()).toEqual(
      [mine.large, mine.failed, foreign].toSorted(),
    )
    expect(await simulate({ policy: document }, newcomer)).toMatchObject({
      complete: true,
      progress: { examined: 0, decided: 0, share: 1 },
      flips: [],
    })
  })

  test('a range takes its beginning in and leaves its end out', async () => {
    const { flips } = await simulate({ policy: upsideDown })
    const [, huge] = flips as { createdAt: string; businessTransactionId: string }[]
    const since = huge?.createdAt ?? ''
    const within = await simulate({ policy: upsideDown, since })
    expect(idsOf(within.flips)).toContain(mine.huge)
    expect(idsOf(within.flips)).not.toContain(mine.large)
    const before = await simulate({ policy: upsideDown, until: since.replace('Z', '+00:00') })
    expect(idsOf(before.flips)).toEqual([mine.large])
    expect((await simulate({ policy: upsideDown, since: '2999-01-01T00:00:00Z' })).flips).toEqual([])
  })

  test('the same document flips nothing, and rules see the time of the decision', async () => {
    const { flips } = await simulate({ policy: document })
    const created = (flips as { createdAt: string }[])[0]?.createdAt
    const same = [{ id: 'too-large', when: 'signals.amount > 1000.0', outcome: 'reject', reason: 'x' }]
    const approved = document.rules.slice(1)
    expect(await simulate({ policy: { ...document, rules: [...same, ...approved] } })).toMatchObject({
      flips: [],
      unchanged: 5,
    })
    const dated = {
      id: 'then',
      when: `now > timestamp("${created}")`,
      outcome: 'reject',
      reason: 'Later than then.',
    }
    expect((await simulate({ policy: { ...document, rules: [...same, dated, ...approved] } })).flips).toEqual(
      [],
    )
  })

  test('signals that were never verified are named where they are taken as declared', async () => {
    const verify = { amount: { by: 'history', window: '1d' } }
    const { flips } = await simulate({ policy: { ...upsideDown, verify } })
    expect(flips.find((flip: { wouldBe: object }) => 'unverified' in flip.wouldBe)).toMatchObject({
      businessTransactionId: mine.huge,
      wouldBe: { outcome: 'APPROVED', unverified: ['amount'] },
    })
  })

  test('an approval that nobody was asked for then is named as what it would wait for, and does not hide the end of a version', async () => {
    const asking = {
      ...document,
      signals: { ...document.signals, managerApproved: 'boolean' },
      verify: { managerApproved: { by: 'approval', quorum: 1 } },
      rules: [
        {
          id: 'large',
          when: 'signals.amount > 10.0 && !signals.managerApproved',
          outcome: 'reject',
          reason: 'A manager signs for more than 10.',
        },
        ...document.rules.filter(({ id }) => id !== 'too-large'),
      ],
    }
    const answer = await simulate({ policy: asking, retires: ['1.0.0'] })
    const needs = { outcome: 'REJECTED', matchedRuleId: 'large', needs: ['managerApproved'] }
    const flips = answer.flips.filter(({ wouldBe }: { wouldBe: { needs?: object } }) => wouldBe.needs)
    expect(idsOf(flips)).toEqual([mine.failed, mine.large])
    expect(flips[0].wouldBe).toMatchObject(needs)
    expect(answer).toMatchObject({ progress: { decided: 5 }, skipped: 1, unknown: 0 })
    expect(idsOf(answer.retired)).toEqual(
      idsOf((await simulate({ policyId: 'sandbox-echo', retires: ['1.0.0'] })).retired),
    )

    // A sum of the past is not looked up again.
    const summing = {
      ...asking,
      signals: { ...document.signals, spent: 'number' },
      verify: { spent: { by: 'history', window: '1d', sum: 'intent.parameters.amount' } },
      rules: [
        { id: 'spent', when: 'signals.spent > 10.0', outcome: 'reject', reason: 'Spent.' },
        ...document.rules,
      ],
    }
    const unknown = await simulate({ policy: summing, retires: ['1.0.0'] })
    expect(unknown).toMatchObject({
      progress: { decided: 5 },
      unknown: 4,
      unknownSignals: ['spent'],
      skipped: 1,
    })
    expect(idsOf(unknown.retired)).toEqual(idsOf(answer.retired))
  })

  test('a signal that was denied by its state stays denied while the document asks for that state', async () => {
    const { businessTransactionId: id, ...rest } = aTransaction({
      ...amount(5),
      authority: { principalId: 'refunder' },
    })
    const transaction = { ...rest, businessTransactionId: id, policy: { name: 'refund', version: '1.0.0' } }
    expect((await service.post('/execute', transaction, refunder)).status).toBe(403)
    expect(await simulate({ policy: refund }, refunder)).toMatchObject({ flips: [], unchanged: 1 })
    const { verify: _, ...trusting } = refund
    const { flips } = await simulate({ policy: trusting }, refunder)
    expect(flips).toMatchObject([{ businessTransactionId: id, wouldBe: { outcome: 'APPROVED' } }])
  })

  test('the end of versions would have refused what was approved under them, with a document and without', async () => {
    const echoes = { policyId: 'sandbox-echo', retires: ['1.0.0', '9.9.9'] }
    const alone = await simulate(echoes)
    expect(alone).toMatchObject({ complete: true, flips: [] })
    const { progress, unchanged, retired } = alone as {
      progress: { decided: number }
      unchanged: number
      retired: { businessTransactionId: string; version: string }[]
    }
    expect(retired.length).toBeGreaterThan(0)
    expect(unchanged + retired.length).toBe(progress.decided)
    expect(new Set(retired.map(({ version }) => version))).toEqual(new Set(['1.0.0']))
    const [one] = retired
    const { body } = await service.get(`/trust-records/${one?.businessTransactionId}`)
    expect(body.executions[0].decision.outcome).toBe('APPROVED')

    const both = await simulate({ policy: upsideDown, retires: ['1.0.0'] })
    expect(both.retired).toEqual(retired)
    expect(both.flips).toEqual((await simulate({ policy: upsideDown })).flips)
    expect((await simulate({ policyId: 'sandbox-echo', retires: ['9.9.9'] })).retired).toEqual([])
  })

  test('no row of any table changes', async () => {
    const before = await rowsOfEveryTable(database)
    await simulate({ policy: upsideDown }, auditor)
    expect(await rowsOfEveryTable(database)).toEqual(before)
    expect(before['refusal_records']).toBeGreaterThan(0)
  })
})

describe('a range of thousands', () => {
  const PAST = 3_000

  beforeAll(async () => {
    const stored = {
      ...aTransaction({ ...amount(42), authority: { principalId: 'bulk' } }),
      createdAt: 'x',
      status: 'RECEIVED',
    }
    const { rows } = await database.pool.query<{ body: string }>(
      `SELECT body FROM business_transactions WHERE execution_authorization IS NOT NULL AND body LIKE '%"amount":42%' LIMIT 1`,
    )
    expect(JSON.parse(rows[0]?.body ?? '{}').policy).toEqual(stored.policy)
    await database.pool.query(
      `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization)
      SELECT gen_random_uuid(), 'bulk', '2026-01-01T00:00:00Z'::timestamptz + n / 3 * interval '1 second', $1::text,
        CASE WHEN n % 2 = 0 THEN '{}' END
      FROM generate_series(1, $2::integer) AS n`,
      [rows[0]?.body, PAST],
    )
  })

  test('comes in bounded chunks that miss and repeat nothing, while executions go on', async () => {
    const simulated = new AbortController()
    const statuses: number[] = []
    const traffic = (async () => {
      while (!simulated.signal.aborted) statuses.push((await service.post('/execute', aTransaction())).status)
    })()
    onTestFinished(() => {
      simulated.abort()
      return traffic
    })

    const flipped: string[] = []
    const shares: number[] = []
    const untils: string[] = []
    let [examined, skipped] = [0, 0]
    let next: string | undefined
    do {
      const chunk = await simulate(
        { policy: document, ...(next === undefined ? {} : { cursor: next }) },
        bulk,
      )
      expect(chunk.progress.examined).toBeLessThanOrEqual(500)
      expect(chunk.progress.examined).toBeGreaterThan(0)
      flipped.push(...idsOf(chunk.flips))
      examined += chunk.progress.examined
      skipped += chunk.skipped
      shares.push(chunk.progress.share)
      untils.push(chunk.progress.until)
      next = chunk.next
      expect(chunk.complete).toBe(next === undefined)
    } while (next !== undefined)
    simulated.abort()
    await traffic

    expect({ examined, skipped, flipped: new Set(flipped).size }).toEqual({
      examined: PAST,
      skipped: PAST / 2,
      flipped: PAST / 2,
    })
    expect(flipped).toHaveLength(PAST / 2)
    expect(shares.length).toBeGreaterThanOrEqual(PAST / 500)
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    expect(untils).toEqual(untils.toSorted().toReversed())
    expect([shares.at(-1), untils.at(-1)]).toEqual([1, '2026-01-01T00:00:00.000Z'])
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  test('many at once share the pace of one, and none is turned away', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => simulate({ policy: document }, bulk)))
    expect(all.every(({ progress }) => progress.examined > 0)).toBe(true)
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
  })

  test('countersign simulate makes the report of a change, which lists as many flips as there is room for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-impact-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [file, report] = [join(folder, 'change.json'), join(folder, 'report.json')]
    const shown = {
      changeId: randomUUID(),
      kind: 'policy',
      target: 'sandbox-echo/1.1.0',
      proposed: { ...document, retires: ['1.0.0'] },
      reason: 'test',
      proposedBy: 'alice',
      proposedAt: instant,
    }
    const changeHash = sha256Hex(canonicalize(shown))
    writeFileSync(file, JSON.stringify({ ...shown, changeHash, status: 'PENDING_APPROVAL' }))
    const args = ['--change', file, '--report', report, '--url', service.url, '--key', bulk.key]
    const { code, stdout, stderr } = await command(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('%') })
    const text = readFileSync(report, 'utf8')
    const made = JSON.parse(text) as ImpactReport
    const { changeId } = shown
    expect(made).toMatchObject({
      version: 1,
      changeId,
      changeHash,
      since: '2026-01-01T00:00:00.000Z',
      examined: PAST,
      decided: PAST / 2,
      skipped: PAST / 2,
      approvedToRejected: PAST / 2,
      rejectedToApproved: 0,
      refusedAsRetired: PAST / 2,
    })
    expect(Check(ImpactReport, made)).toBe(true)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(IMPACT_REPORT_BYTES_MAX)
    expect(Buffer.byteLength(text)).toBeGreaterThan(IMPACT_REPORT_BYTES_MAX - 300)
    for (const list of [made.flips, made.retired]) {
      expect(list.length).toBeGreaterThan(40)
      const newest = list.map(({ createdAt }) => createdAt)
      expect(newest).toEqual(newest.toSorted().toReversed())
    }
    const listed = made.flips.length + made.retired.length
    expect(stdout).toContain(`its hash ${sha256Hex(text)}. It lists the newest ${listed} of them.`)

    writeFileSync(file, JSON.stringify({ ...shown, changeHash: 'a'.repeat(64), status: 'PENDING_APPROVAL' }))
    expect(await command(args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The change is not the one that its changeHash is of.'),
    })
    expect(await command([file, ...args])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Give either a policy.yaml or --change.'),
    })
  })

  test('countersign simulate follows it to the end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-simulate-'))
    const file = join(folder, 'policy.yaml')
    writeFileSync(file, JSON.stringify(document))
    const { code, stdout, stderr } = await command([file, '--url', service.url, '--key', bulk.key])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('%') })
    const lines = stdout.trimEnd().split('\n')
    expect(
      lines.filter((line) => line.includes('APPROVED -> REJECTED (too-large) Amount above 10.')),
    ).toHaveLength(PAST / 2)
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(
        `^${PAST / 2} of ${PAST / 2} past decisions under sandbox-echo would flip: ${PAST / 2} approved would be rejected \\([\\d,]+\\), 0 rejected would be approved\\.$`,
      ),
      `${PAST} transactions of any policy examined. ${PAST / 2} under this policy ended without a decision, for an unknown version or the lack of a connector: nothing is said of them.`,
    ])

    const profile = join(folder, 'bulk.json')
    writeFileSync(profile, JSON.stringify({ url: service.url, apiKey: bulk.key }))
    const asProfile = await command([file, '--profile', profile], { COUNTERSIGN_API_KEY: 'csk_wrong' })
    expect(asProfile).toMatchObject({ code: 0, stdout })

    const wrongKey = await command([file, '--url', `${service.url}/`, '--key', 'csk_wrong'])
    expect(wrongKey).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('the service answers 401: authentication required'),
    })
    writeFileSync(
      file,
      JSON.stringify({ ...document, rules: [{ ...document.rules[0], when: 'signals.nope' }] }),
    )
    const mistake = await command([file], {
      COUNTERSIGN_URL: service.url,
      COUNTERSIGN_API_KEY: bulk.key,
    })
    expect(mistake).toMatchObject({ code: 1, stderr: expect.stringContaining("Unknown signal 'nope'.") })
    rmSync(folder, { recursive: true })
  })
})

describe('POST /sandbox/policies/simulate 400 fieldRequired', () => {
  test.each(['{}', 'null', '[]', '{"policy":null}', '{"policy":" "}'])('%s', async (body) => {
    expect(reply(await service.post('/sandbox/policies/simulate', body))).toEqual({
      status: 400,
      body: { error: 'policy is required.' },
    })
  })
})

const cursor = (...parts: string[]) => Buffer.from(parts.join(' ')).toString('base64url')
const instant = '2026-01-01T00:00:00.000Z'

describe('POST /sandbox/policies/simulate 400 invalidField', () => {
  test.each<[object, string]>([
    [{ policy: 5 }, 'policy must be a policy document.'],
    [{ policy: { ...document, polciyId: 1 } }, 'polciyId'],
    [
      { policy: { ...document, rules: [{ ...document.rules[0], when: 'signals.nope > 1.0' }] } },
      "policy, rule too-large, column 1: Unknown signal 'nope'.",
    ],
    [{ policy: document, since: 'yesterday' }, 'since must be an RFC 3339 timestamp.'],
    [{ policy: document, until: 5 }, 'until must be an RFC 3339 timestamp.'],
    [
      { policy: document, since: '2026-05-02T00:00:00Z', until: '2026-05-01T00:00:00Z' },
      'since must not be after until.',
    ],
    [{ policy: document, untill: instant }, 'untill'],
    [{ policyId: 'x', policy: document, retires: ['1.0.0'] }, 'policyId must be left out where policy'],
    [{ policyId: 'X', retires: ['1.0.0'] }, 'policyId must be the name of a policy.'],
    [{ policyId: 'x', retires: ['1.0'] }, 'retires must be 1 to 100 versions such as 1.0.0.'],
    [{ policy: document, retires: [] }, 'retires must be 1 to 100 versions such as 1.0.0.'],
    [{ policy: document, cursor: 'x' }, 'cursor must be the `next` of an earlier answer.'],
    [{ policy: document, cursor: 7 }, 'cursor must be the `next` of an earlier answer.'],
    [{ policy: document, cursor: cursor(instant, instant, instant, 'x') }, 'cursor must be'],
    [
      { policy: document, cursor: cursor(instant, instant, '2026-02-30T00:00:00.000Z', randomUUID()) },
      'cursor must be',
    ],
  ])('%j', async (body, message) => {
    const answer = await service.post('/sandbox/policies/simulate', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(message)
  })
})

/** The command as a process of its own. */
async function command(args: string[], env: Record<string, string> = {}) {
  const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'index.ts')
  const child = spawn(process.execPath, [cli, 'simulate', ...args], {
    env: { ...bundledEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
