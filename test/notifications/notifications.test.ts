// Approvers are told of an approval request by every configured way, with a link and nothing to approve by; a way that fails is tried again
// and holds up no other.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { openJoinedQueue } from '../../src/store/queues/job-queue.ts'
import { askAgain } from '../../src/server/notifications/ask-again.ts'
import { aHuman, anApprovalOf, anApprover, enrolled, putInEffect } from '../authority.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { openChat, type Chat } from './chat.ts'
import { openMailbox, type Mailbox } from './mailbox.ts'

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
/** A requester who wants a chat to show a link of theirs would write this. */
const HOSTILE = '<https://evil.example|Approve here> [Approve](https://evil.example) <!channel> @dana \u202e'

const maker = aHuman('maker', { approverId: 'alice' })
const checker = aHuman('checker', { approverId: 'bob' })
const bot = aCaller('bot', { allowedPrincipalIds: ['tester', 'alice'] })
const alice = anApprover('alice')
const bob = anApprover('bob')
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-one',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})
addPolicy(policyDir, {
  name: 'escalated',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1, from: ['managers', 'directors'] } },
  ask: { remindAfter: '10m', escalateAfter: '30m', escalateTo: 'directors' },
})

let folder: string
let database: TestDatabase
let service: TestService
let chat: Chat
let mailbox: Mailbox

const start = () =>
  startService({
    databaseUrl: database.url,
    callers: [maker.entry, checker.entry, bot.entry],
    env: {
      POLICY_DIR: policyDir,
      NOTIFICATIONS: join(folder, 'notifications.yaml'),
      CONSOLE_ORIGIN: 'https://console.example',
    },
  })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-notifications-'))
  ;[database, chat, mailbox] = await Promise.all([createDatabase(), openChat(), openMailbox()])
  writeFileSync(join(folder, 'secret'), SECRET)
  // JSON is YAML.
  const send = [
    { name: 'slack', kind: 'slack', url: `${chat.url}/slack` },
    { name: 'teams', kind: 'teams', url: `${chat.url}/teams`, details: true },
    { name: 'bot', kind: 'webhook', url: `${chat.url}/bot`, secretFile: 'secret' },
    { name: 'others', kind: 'webhook', url: `${chat.url}/others`, capabilities: ['vendor:pay'] },
    {
      name: 'mail',
      kind: 'email',
      server: `smtp://127.0.0.1:${mailbox.port}`,
      from: 'countersign@example.com',
      to: ['approvals@example.com'],
      approvers: {
        alice: 'alice@example.com',
        bob: 'bob@example.com',
        carol: 'carol@example.com',
        ALICE: 'loud@example.com',
      },
    },
    // A name resolves to whatever a name server says: mail to it is encrypted, or it is not sent.
    {
      name: 'mail-in-the-clear',
      kind: 'email',
      server: `smtp://localhost:${mailbox.port}`,
      from: 'countersign@example.com',
      to: ['in-the-clear@example.com'],
    },
  ]
  writeFileSync(join(folder, 'notifications.yaml'), JSON.stringify({ send }))
  service = await start()
  for (const approver of [alice, bob]) await enrolled(service, { maker, checker }, approver)
  for (const [group, members] of Object.entries({ managers: ['alice'], directors: ['bob'] }))
    await putInEffect(service, { maker, checker }, '/approver-groups/changes', {
      action: 'set',
      group,
      members,
      reason: 'test',
    })
})
afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await Promise.all([chat.close(), mailbox.close(), database.drop()])
  for (const made of [folder, policyDir]) rmSync(made, { recursive: true })
})

/** As if a minute had passed since the last message, which may be a minute ahead itself, unless `soon`. */
async function ask(
  target: string,
  note = '',
  { soon = false, policy = 'by-one', principalId = 'tester' } = {},
): Promise<ApprovalRequest> {
  if (!soon)
    await database.pool.query(`UPDATE approval_requests SET notice_at = notice_at - interval '2 minutes'`)
  const transaction = aTransaction({
    authority: { principalId },
    intent: { target, parameters: { amount: 42 } },
    policy: { name: policy },
    signals: { approved: true },
  })
  const { status, body } = await service.post('/approval-requests', { transaction, note }, { key: bot.key })
  expect(status, JSON.stringify(body)).toBe(201)
  return body as ApprovalRequest
}

const withdraw = ({ url }: ApprovalRequest) => service.post(`${url}/withdraw`, {}, { key: bot.key })

/** Finds the message that a chat was sent of a request. */
const postedOf = (path: string, { actionCode }: ApprovalRequest) =>
  chat.posted.filter((posted) => posted.path === path && posted.body.includes(actionCode))
const mailsOf = ({ actionCode }: ApprovalRequest) =>
  mailbox.mails.filter(({ text }) => text.includes(actionCode))

test('each way tells what is asked, by whom, and where to look, and only one that was asked to shows what the requester wrote', async () => {
  const asked = await ask(`target ${HOSTILE}`, HOSTILE)
  const { requestId } = asked.request
  const link = `https://console.example/console/requests/${requestId}`
  const [[slack], [teams], [webhook], [mail]] = await until(() => {
    const all = [
      postedOf('/slack', asked),
      postedOf('/teams', asked),
      postedOf('/bot', asked),
      mailsOf(asked),
    ] as const
    return all.every(({ length }) => length === 1) ? all : undefined
  }, 'all ways to be told')
  expect(JSON.parse(slack!.body)).toEqual({
    text: 'Approval wanted: sandbox:echo, for bot',
    unfurl_links: false,
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: 'Approval wanted: sandbox:echo, for bot', emoji: false },
      },
      {
        type: 'section',
        text: {
          type: 'plain_text',
          text: `Action code: ${asked.actionCode}\nApprovals missing: 1\nOpen until: ${asked.expiresAt.slice(0, 19).replace('T', ' ')} UTC`,
          emoji: false,
        },
      },
      {
        type: 'section',
        text: { type: 'mrkdwn', text: `<${link}|Look at it, then sign or decline it>` },
      },
      expect.objectContaining({ type: 'context' }),
    ],
  })
  for (const { body } of [slack!, webhook!]) expect(body).not.toContain('evil.example')
  expect(mail!.text).not.toContain('evil.example')

  // A TextRun shows Markdown as it is written, and what cannot be seen is replaced.
  const { body } = (
    JSON.parse(teams!.body) as {
      attachments: { content: { body: { type: string; inlines?: object[] }[] } }[]
    }
  ).attachments[0]!.content
  expect(new Set(body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock', 'ActionSet']))
  const texts = body.flatMap(({ inlines = [] }) => inlines as { text: string }[]).map(({ text }) => text)
  const broken = HOSTILE.replaceAll('https://evil.example', 'https[:]//evil[.]example')
  expect(texts).toContain(`Target: target ${broken.replace('\u202e', '\ufffd')}`)
  expect(teams!.body.split('https://evil')).toHaveLength(1)
  expect(texts).toContain('Parameters: {"amount":42}')

  expect(webhook!.headers['webhook-id']).toBe(requestId)
  expect(new Webhook(SECRET).verify(webhook!.body, webhook!.headers as Record<string, string>)).toMatchObject(
    {
      type: 'approval_request.opened',
      data: {
        requestId,
        link,
        capability: 'sandbox:echo',
        requestedBy: 'bot',
        missing: 1,
        eligible: ['alice', 'bob'],
      },
    },
  )

  // Two of the approvers with an address could sign.
  expect(mail!.to).toEqual(['approvals@example.com', 'alice@example.com', 'bob@example.com'])
  expect(mail!.text).toContain('Subject: Approval wanted: sandbox:echo, for bot')
  // A long line is broken on its way.
  expect(mail!.text.replaceAll('=\r\n', '')).toContain(link)
})

const toldOfNothing = (approverId: string, meant = '') =>
  `NOTIFICATIONS: 'mail' has the address of "${approverId}", who is told of nothing: no approver of this name has a key in effect${meant}.`

test('an address of an approver whom nobody enrolled is named at the start, and in /ready until somebody has', async () => {
  const warnedOf = service.lines().flatMap(({ level, msg }) => (level === 40 ? [msg] : []))
  expect(warnedOf).toEqual(expect.arrayContaining(['alice', 'carol', 'ALICE'].map((id) => toldOfNothing(id))))
  const { warnings } = (await service.get('/ready')).body as { warnings: string[] }
  expect(warnings.filter((sentence) => sentence.startsWith('NOTIFICATIONS'))).toEqual([
    toldOfNothing('carol'),
    toldOfNothing('ALICE', " (did you mean 'alice'?)"),
  ])
})

test('what is for another capability is not sent, and asking again for the same tells nobody again', async () => {
  const asked = await ask('asked twice')
  await until(() => postedOf('/bot', asked)[0], 'the webhook')
  const transaction = aTransaction({
    intent: { target: 'asked twice', parameters: { amount: 42 } },
    policy: { name: 'by-one' },
    signals: { approved: true },
  })
  const again = await service.post('/approval-requests', { transaction }, { key: bot.key })
  expect(again.status).toBe(200)
  // Told after it, by the same queue: what had been sent for the second time would be there.
  const later = await ask('asked afterwards')
  await until(() => postedOf('/bot', later)[0], 'the webhook')
  expect(postedOf('/bot', asked)).toHaveLength(1)
  expect(chat.posted.filter(({ path }) => path === '/others')).toEqual([])
})

test('a way that fails is tried again until it is told, is named by /ready, and holds up no other', async () => {
  chat.answer('/slack', 503)
  chat.answer('/teams', 'hang')
  const asked = await ask('tried again')
  await until(() => postedOf('/bot', asked)[0], 'the webhook')
  // As if the pause before the next attempt, which doubles each time, were over.
  const readyLater = async () => {
    await database.pool.query(
      `UPDATE pgboss.job SET start_after = now() WHERE name = 'notifications-slack' AND state = 'retry'`,
    )
    return (await service.get('/ready')).text
  }
  // A message of an earlier test may be the first to fail: /ready names the way, not the request.
  await until(
    async () =>
      (await readyLater()).includes(
        "'slack' did not notify approvers: the notification was answered with status 503.",
      ) && postedOf('/slack', asked).length > 1,
    'a second attempt, and /ready to say so',
  )
  chat.answer('/slack', 200)
  chat.answer('/teams', 200)
  await until(async () => !(await readyLater()).includes("'slack'"), '/ready to say so no more', 120_000)
  expect(service.output()).not.toContain(chat.url)
})

test('a chat that asks for time is left alone for so long, and is told then', async () => {
  chat.answer('/slack', { status: 429, retryAfter: '600' })
  const asked = await ask('later')
  await until(() => postedOf('/slack', asked)[0], 'a first attempt')
  const waiting = () =>
    database.pool.query<{ seconds: number }>(
      `SELECT extract(epoch FROM start_after - now())::float8 AS seconds FROM pgboss.job
       WHERE name = 'notifications-slack' AND state = 'created' AND data ->> 'requestId' = $1`,
      [asked.request.requestId],
    )
  const { rows } = await until(async () => {
    const found = await waiting()
    return found.rows.length > 0 ? found : undefined
  }, 'the job')
  expect(rows[0]!.seconds).toBeGreaterThan(500)
  chat.answer('/slack', 200)
  await database.pool.query(
    `UPDATE pgboss.job SET start_after = now() WHERE name = 'notifications-slack' AND state = 'created'`,
  )
  await until(() => postedOf('/slack', asked)[1], 'the second attempt')
  expect(postedOf('/slack', asked)).toHaveLength(2)
})

test('nobody is told any more of a request that was withdrawn', async () => {
  chat.answer('/bot', 503)
  const asked = await ask('withdrawn')
  await until(() => postedOf('/bot', asked)[0], 'a first attempt')
  const { requestId } = asked.request
  expect((await withdraw(asked)).status).toBe(200)
  const attempts = postedOf('/bot', asked).length
  chat.answer('/bot', 200)
  await until(async () => {
    const { rows } = await database.pool.query<{ state: string }>(
      `SELECT state::text FROM pgboss.job WHERE name = 'notifications-bot' AND data ->> 'requestId' = $1`,
      [requestId],
    )
    return rows[0]?.state === 'completed'
  }, 'its job to be done')
  expect(postedOf('/bot', asked).length).toBeLessThanOrEqual(attempts + 1)
  expect(mailbox.mails.some(({ to }) => to.includes('in-the-clear@example.com'))).toBe(false)
})

// proves abuse: An agent buries the one request that matters
test('what a caller asks within a minute is one message, which a stop in between does not lose and which leaves out what was withdrawn', async () => {
  const first = await ask('alone')
  await until(() => postedOf('/bot', first)[0], 'the first message')
  const joined: ApprovalRequest[] = []
  for (const target of ['one', 'two', 'three', 'four'])
    joined.push(await ask(target, `note of ${target}`, { soon: true }))
  const [withdrawn, ...standing] = joined as [ApprovalRequest, ...ApprovalRequest[]]
  expect((await withdraw(withdrawn)).status).toBe(200)
  const { rows: jobs } = await database.pool.query(
    `SELECT FROM pgboss.job WHERE name LIKE 'notifications-%' AND state = 'created' AND start_after > now()`,
  )
  expect(jobs).toHaveLength(6)
  expect(await service.stop()).toBe(0)
  expect(joined.flatMap((one) => [...postedOf('/bot', one), ...mailsOf(one)])).toEqual([])

  await database.pool.query(`UPDATE pgboss.job SET start_after = now() WHERE start_after > now()`)
  service = await start()
  const [message] = await until(() => {
    const posted = postedOf('/bot', standing[0]!)
    return posted.length > 0 ? posted : undefined
  }, 'the message')
  const ids = standing.map(({ request: { requestId } }) => requestId)
  const { data } = JSON.parse(message!.body) as {
    data: { requestId: string; count: number; requests: { requestId: string }[] }
  }
  expect(message!.headers['webhook-id']).toBe(withdrawn.request.requestId)
  expect([data.requestId, data.count, data.requests.map(({ requestId }) => requestId)]).toEqual([
    ids[0],
    3,
    ids,
  ])
  for (const path of ['/slack', '/teams']) {
    const [posted] = await until(() => {
      const all = postedOf(path, standing[0]!)
      return all.length > 0 ? all : undefined
    }, path)
    expect(posted!.body).toContain('3 approvals wanted, for bot')
    for (const one of standing) expect(posted!.body).toContain(one.actionCode)
    expect(posted!.body).not.toContain(withdrawn.actionCode)
  }
  const mail = await until(() => mailsOf(standing[0]!)[0], 'the mail')
  expect(mail.text).toContain('Subject: 3 approvals wanted, for bot')
  for (const { actionCode } of standing) expect(mail.text).toContain(actionCode)
  for (const one of joined) {
    expect(postedOf('/bot', one).length).toBeLessThanOrEqual(1)
    expect(mailsOf(one).length).toBeLessThanOrEqual(1)
  }
})

const escalated = (target: string, more = {}) => ask(target, '', { policy: 'escalated', ...more })
const read = async ({ url }: ApprovalRequest) =>
  (await service.get(url, { key: maker.key })).body as ApprovalRequest
const waitsFor = async ({ key }: { key: string }, { request: { requestId } }: ApprovalRequest) => {
  const { body } = await service.get('/approval-requests?waitingFor=me', { key })
  const { requests } = body as { requests: ApprovalRequest[] }
  return requests.some(({ request }) => request.requestId === requestId)
}

/** As if the time had come. */
const makeDue = (column: 'remind_at' | 'escalate_at', { request: { requestId } }: ApprovalRequest) =>
  database.pool.query(
    `UPDATE approval_requests SET ${column} = t.at, ask_next_at = t.at
     FROM (SELECT date_trunc('milliseconds', now() - interval '1 s') AS at) AS t WHERE request_id = $1::uuid`,
    [requestId],
  )

/** How many jobs tell of the request again, with what became of them. */
async function jobsOf({ request: { requestId } }: ApprovalRequest, why: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ state: string }>(
    `SELECT state::text FROM pgboss.job
     WHERE name = 'notifications-bot' AND data #>> '{again,why}' = $2 AND data #> '{again,requestIds}' ? $1`,
    [requestId, why],
  )
  return rows.map(({ state }) => state)
}

/** As instances do that look in the same moment, beside the service itself. */
async function askTogether(): Promise<void> {
  const { pool } = database
  const boss = await openJoinedQueue(pool)()
  await Promise.all(Array.from({ length: 3 }, () => askAgain({ pool, boss, ways: [{ name: 'bot' }] })))
}

const messagesOf = (asked: ApprovalRequest) =>
  postedOf('/bot', asked).map(({ headers, body }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { eligible: string[] } }
    return [headers['webhook-id'], type, data.eligible]
  })

describe('under a policy that says when to ask again', () => {
  test('those who were asked are reminded once, and at the escalation the further group is asked and told', async () => {
    const asked = await escalated('waits')
    const { requestId, createdAt } = asked.request
    expect(asked.eligible).toEqual(['alice'])
    expect(asked.signals).toMatchObject([{ from: ['managers', 'directors'], eligible: ['alice'] }])
    const { remindAt = '', escalateAt = '', escalateTo } = asked.ask ?? {}
    const minutes = [remindAt, escalateAt].map((at) => (Date.parse(at) - Date.parse(createdAt)) / 60_000)
    // Counted from the message, which is sent at once or within a minute.
    expect(minutes.map(Math.floor)).toEqual([10, 30])
    expect(escalateTo).toBe('directors')
    expect([await waitsFor(maker, asked), await waitsFor(checker, asked)]).toEqual([true, false])
    await until(() => messagesOf(asked)[0], 'the first message')

    await makeDue('remind_at', asked)
    await askTogether()
    await until(() => messagesOf(asked)[1], 'the reminder')
    expect(await jobsOf(asked, 'reminder')).toHaveLength(1)
    expect((await read(asked)).eligible).toEqual(['alice'])

    await makeDue('escalate_at', asked)
    expect(await read(asked)).toMatchObject({ eligible: ['alice', 'bob'], missing: 1, status: 'PENDING' })
    expect([await waitsFor(maker, asked), await waitsFor(checker, asked)]).toEqual([true, true])
    await askTogether()
    await until(() => messagesOf(asked)[2], 'the escalation')
    expect(await jobsOf(asked, 'escalation')).toHaveLength(1)
    expect(messagesOf(asked)).toEqual([
      [requestId, 'approval_request.opened', ['alice']],
      [`${requestId}.reminder`, 'approval_request.still_wanted', ['alice']],
      [`${requestId}.escalation`, 'approval_request.escalated', ['bob']],
    ])
    // Nobody is told a third time.
    const { rows } = await database.pool.query(
      'SELECT ask_next_at AS "askNextAt" FROM approval_requests WHERE request_id = $1::uuid',
      [requestId],
    )
    expect(rows).toEqual([{ askNextAt: null }])
    expect((await service.post('/approvals', anApprovalOf(bob, asked))).status).toBe(201)
    expect(await read(asked)).toMatchObject({ status: 'APPROVED', missing: 0 })
  })

  test('mail goes to those whom the message is for, and its subject says why', async () => {
    const asked = await escalated('by mail')
    const mails = () => mailsOf(asked).map(({ to, text }) => [/^Subject: (.*?)\r?$/m.exec(text)?.[1], to])
    await until(() => mails()[0], 'the first mail')
    await makeDue('escalate_at', asked)
    await until(() => mails()[1], 'the second mail')
    expect(mails()).toEqual([
      ['Approval wanted: sandbox:echo, for bot', ['approvals@example.com', 'alice@example.com']],
      [
        'Approval escalated to directors: sandbox:echo, for bot',
        ['approvals@example.com', 'bob@example.com'],
      ],
    ])
  })

  test('an approval by the further group counts before its escalation, and nobody is told of what is approved', async () => {
    const asked = await escalated('signed early')
    expect((await service.post('/approvals', anApprovalOf(bob, asked))).status).toBe(201)
    expect(await read(asked)).toMatchObject({ status: 'APPROVED', missing: 0 })
    await makeDue('remind_at', asked)
    await until(
      async () =>
        (await jobsOf(asked, 'reminder')).every((state) => state === 'completed') &&
        (await jobsOf(asked, 'reminder')).length === 1,
      'its job to be done',
    )
    expect(messagesOf(asked).filter(([, type]) => type !== 'approval_request.opened')).toEqual([])
  })

  test('the further group is asked at once where the others could not approve', async () => {
    const asked = await escalated('of a manager', { principalId: 'alice' })
    expect(asked.eligible).toEqual(['bob'])
    expect(Object.keys(asked.ask ?? {})).toEqual(['remindAt'])
  })

  test('nobody is reminded of requests under a version that was retired', async () => {
    const asked = await escalated('retired')
    await putInEffect(service, { maker, checker }, '/policies/escalated/1.0.0/pending-changes', {
      action: 'retire',
      reason: 'test',
    })
    await makeDue('remind_at', asked)
    await askTogether()
    expect(await jobsOf(asked, 'reminder')).toEqual([])
    expect(await read(asked)).toMatchObject({ status: 'ENDED', eligible: [] })
    expect((await read(asked)).ask).toBeUndefined()
  })
})
