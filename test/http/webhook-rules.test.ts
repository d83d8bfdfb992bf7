// The rules for the deliveries of providers, and the changes of them that two humans make.
import { describe, expect, test } from 'vitest'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { loadDocument } from '../../src/store/tables/authority.ts'
import { aHuman, proposed, putInEffect, resolved, type Change } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { aCaller, reply, until, type TestService } from '../service.ts'
import { aRule } from '../webhook-rules/builders.ts'
import { env } from '../webhooks.ts'
import { withService } from '../with-service.ts'

const CHANGES = '/webhook-rules/changes'
const maker = aHuman('maker')
const checker = aHuman('checker')
const robot = aCaller('robot')
const humans = { maker, checker }

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [maker.entry, checker.entry, robot.entry],
  env,
})

interface Listed {
  readonly provider: string
  readonly rulesHash: string
  readonly status: string
  readonly rules: readonly object[]
  readonly [member: string]: unknown
}

async function listed(provider: string): Promise<Listed[]> {
  const { body } = await service.get('/webhook-rules', robot)
  return (body.webhookRules as Listed[]).filter((row) => row.provider === provider)
}

const aProposal = (provider: string, ...rules: object[]) => ({
  provider,
  rules: rules.length === 0 ? [aRule()] : rules,
  reason: 'test',
})
const propose = (body: unknown) => service.post(CHANGES, body, { key: maker.key })
const hashOf = (provider: string, rules: readonly object[]) =>
  sha256Hex(canonicalize({ provider, rules } as never))

describe('GET /webhook-rules 200', () => {
  test('any caller sees what the first start has approved', async () => {
    const { status, body } = await service.get('/webhook-rules', robot)
    expect([status, Object.keys(body)]).toEqual([200, ['webhookRules']])
    const rows = body.webhookRules as Listed[]
    expect(rows.map(({ provider, status: stands, approvedBy }) => [provider, stands, approvedBy])).toEqual([
      ['razorpay', 'IN_EFFECT', 'genesis'],
      ['stripe', 'IN_EFFECT', 'genesis'],
    ])
    for (const { provider, rulesHash, rules } of rows) expect(rulesHash).toBe(hashOf(provider, rules))
  })
})

describe('POST /webhook-rules/changes 201', () => {
  test('answers what a checker is to be shown; nothing is in effect yet', async () => {
    const { status, body } = await propose(aProposal('acme', aRule({ note: 'As they say.' })))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'webhook-rules',
      target: 'acme',
      proposed: { provider: 'acme', rules: [aRule({ note: 'As they say.' })] },
      warnings: [
        'Rule paid does not compare transaction.intent.action: it speaks for executions of every capability.',
        'No secret of acme is configured: this service takes none of its deliveries.',
      ],
    })
    expect(await listed('acme')).toEqual([])
  })

  test('shows what differs from the rules in effect, and an empty list as one', async () => {
    const [before] = await listed('razorpay')
    const { body } = await propose(aProposal('razorpay', ...(before?.rules.slice(1) ?? [])))
    expect(body['diff']).toEqual({
      against: before?.rulesHash,
      rules: {
        added: {},
        removed: { 'payout-processed': expect.anything() as object },
        changed: {},
      },
    })
    expect(body['warnings']).toEqual([])
    const empty = await propose({ ...aProposal('emptied'), rules: [] })
    expect(empty.body['warnings']).toContain('The list is empty: no delivery will close anything.')
  })
})

describe('POST /webhook-rules/changes 400 invalidField', () => {
  // proves abuse: Rules that do not compile
  test.each([
    [
      'a rule that does not compile',
      [aRule({ when: 'payload.event =' })],
      'rules, rule paid, when, column 15: ',
    ],
    [
      'two rules of one id',
      [aRule(), aRule({ when: 'payload.a > 1.0' })],
      'rules, rule paid: This id is taken by an earlier rule.',
    ],
    ['a regular expression', [aRule({ when: "payload.a.matches('x')" })], 'Rules have no matches()'],
    [
      'a misspelt member',
      [aRule({ compares: [] })],
      "rules, rule paid: the rule has an unknown key: compares (did you mean 'compare'?).",
    ],
    ['no list', 'none', 'rules must be an array of rules.'],
  ])('%s', async (_, rules, sentence) => {
    const { status, body } = await propose({ provider: 'acme', rules, reason: 'test' })
    expect(status).toBe(400)
    expect(body.error).toContain(sentence)
  })

  test('another spelling of a provider', async () => {
    const { status, body } = await propose(aProposal('Acme'))
    expect([status, body.error]).toEqual([
      400,
      'provider must be a small letter and at most 31 further ones, digits or _.',
    ])
  })

  test('no rules, where no file holds any that are not approved', async () => {
    for (const provider of ['acme', 'stripe']) {
      const { status, body } = await propose({ provider, reason: 'test' })
      expect([status, body.error]).toEqual([
        400,
        `rules is required: no file holds rules of ${provider} that are not approved.`,
      ])
    }
  })
})

describe('POST /webhook-rules/changes 400 fieldRequired', () => {
  test.each(['provider', 'reason'])('%s', async (member) => {
    const { status, body } = await propose({ ...aProposal('acme'), [member]: undefined })
    expect([status, body.error]).toEqual([400, `${member} is required.`])
  })
})

describe('POST /webhook-rules/changes 409 conflict', () => {
  test('what is in effect already, and a second proposal for a provider', async () => {
    const [{ rules } = expect.fail()] = await listed('stripe')
    expect(reply(await propose(aProposal('stripe', ...rules)))).toMatchObject({
      status: 409,
      body: { error: 'These rules of stripe are in effect already.' },
    })
    await proposed(service, maker, CHANGES, aProposal('twice'))
    expect((await propose(aProposal('twice'))).status).toBe(409)
  })
})

describe('POST /webhook-rules/changes/{id}/approve 200', () => {
  test('the rules are in effect under the id of their change, and those of before may come back', async () => {
    const [first, second] = [[aRule()], [aRule({ says: 'pending' })]]
    const one = await putInEffect(service, humans, CHANGES, aProposal('moved', ...first))
    expect(await listed('moved')).toEqual([
      {
        provider: 'moved',
        rulesHash: hashOf('moved', first),
        status: 'IN_EFFECT',
        approvedBy: 'checker',
        approvedAt: one['resolvedAt'],
        approvedByChange: one.changeId,
        rules: first,
      },
    ])
    const two = await putInEffect(service, humans, CHANGES, aProposal('moved', ...second))
    const three = await putInEffect(service, humans, CHANGES, aProposal('moved', ...first))
    expect((await listed('moved')).map(({ status, approvedByChange }) => [status, approvedByChange])).toEqual(
      [
        ['IN_EFFECT', three.changeId],
        ['REPLACED', two.changeId],
        ['REPLACED', one.changeId],
      ],
    )
  })

  test('what a file holds is proposed without its rules, and is in effect once it is approved', async () => {
    const rules = [aRule()]
    const content = canonicalize({ provider: 'filed', rules } as never)
    await loadDocument(database.pool, 'webhook-rules', content, { genesis: false })
    expect(await listed('filed')).toEqual([
      { provider: 'filed', rulesHash: hashOf('filed', rules), status: 'LOADED', rules },
    ])
    const change = await putInEffect(service, humans, CHANGES, { provider: 'filed', reason: 'as shipped' })
    expect(change['proposed']).toEqual({ provider: 'filed', rules })
    expect(await listed('filed')).toMatchObject([{ status: 'IN_EFFECT', approvedByChange: change.changeId }])
  })
})

describe('POST /webhook-rules/changes/{id}/approve 409 conflict', () => {
  test('where a clock that is ahead has approved others', async () => {
    await putInEffect(service, humans, CHANGES, aProposal('ahead'))
    const change = await proposed(service, maker, CHANGES, aProposal('ahead', aRule({ says: 'pending' })))
    await database.pool.query(
      `UPDATE authority SET began_at = began_at + interval '1 h' WHERE target = 'ahead'`,
    )
    const answer = await resolved(service, checker, change, 'approve')
    expect([answer.status, answer.body.error]).toEqual([
      409,
      "Rules of ahead were approved at a time that this instance's clock has not reached.",
    ])
    expect(await listed('ahead')).toMatchObject([{ status: 'IN_EFFECT', rules: [aRule()] }])
  })
})

describe('POST /webhook-rules/changes/{id}/reject 200', () => {
  test('what was rejected never takes effect', async () => {
    const change = await proposed(service, maker, CHANGES, aProposal('rejected'))
    const { status, body } = await resolved(service, checker, change, 'reject', { rejectionReason: 'No.' })
    expect([status, body.status]).toEqual([200, 'REJECTED'])
    expect(await listed('rejected')).toEqual([])
  })
})

describe('GET /webhook-rules/changes 200', () => {
  test('lists the changes of webhook rules alone, audited under their routes', async () => {
    const change = await proposed(service, maker, CHANGES, aProposal('listed'))
    const { body } = await service.get(`${CHANGES}?pageSize=100`, { key: checker.key })
    expect(body.changes).toContainEqual(change)
    expect((body.changes as Change[]).every(({ kind }) => kind === 'webhook-rules')).toBe(true)
    const audited = async () => {
      const events = await service.get('/audit/events?type=governance.proposed', { key: checker.key })
      return (events.body.events as { event: object }[]).map(({ event }) => event)
    }
    await until(
      async () => (await audited()).some((event) => JSON.stringify(event).includes(change.changeId)),
      'the audit event',
    )
    expect(await audited()).toContainEqual(
      expect.objectContaining({
        route: `POST ${CHANGES}`,
        detail: { changeId: change.changeId, kind: 'webhook-rules', target: 'listed' },
      }),
    )
  })
})
