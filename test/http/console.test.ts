// The console's host: who gets in, what a session may do, and what stays as it was for everybody else.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { atConsole, CONSOLE_ORIGIN, COOKIE, logIn } from '../console.ts'
import type { TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { aHuman, aProposalStepUp, aResolutionStepUp, aStepUp } from '../authority.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const human = aHuman('human')
const auditor = aCaller('auditor', { readAll: true })

let database: TestDatabase
let service: TestService
withService((made) => ({ database, service } = made), {
  callers: [human.entry, auditor.entry],
  env: { CONSOLE_ORIGIN },
  addPolicies: () => undefined,
})

test('every page is one document that may load nothing from elsewhere and holds no data', async () => {
  const { status, text, headers } = await atConsole(service, 'GET', '/console/executions/some-id', {
    headers: { 'sec-fetch-site': 'cross-site' },
  })
  expect(status).toBe(200)
  expect(text).toMatch(/<script type="module" src="\/console\/assets\/console-\w+\.js" integrity="sha384-/)
  expect(headers['content-security-policy']).toContain(
    "require-trusted-types-for 'script'; trusted-types 'none'",
  )
  const [, script = ''] = /src="([^"]+)"/.exec(text) ?? []
  const asset = await atConsole(service, 'GET', script)
  expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable')
})

test('a human or an auditor gets a session by a key, another caller does not', async () => {
  for (const { key } of [human, auditor]) {
    const session = await logIn(service, key)
    const me = await atConsole(service, 'GET', '/console/me', session)
    expect(me.status).toBe(200)
    const list = await atConsole(service, 'GET', '/transactions', session)
    expect(list.status).toBe(200)
  }
  const login = (key: unknown) => atConsole(service, 'POST', '/console/login', { body: { key } })
  expect((await login('csk_unknown')).status).toBe(401)
  expect((await login(7)).body.error).toContain('key must be the text csk_')
  const machine = await login(service.key)
  expect(machine.status).toBe(403)
  expect(machine.cookie).toBeUndefined()
})

describe('403 consoleRefused', () => {
  // proves abuse: A session used as authority
  test('a session is no authority: what changes anything needs a key or a signature', async () => {
    const session = await logIn(service, human.key)
    for (const [path, body] of [
      ['/execute', aTransaction()],
      ['/approvers/changes', {}],
      ['/execution-intents/8c3f3a0e-90d8-4f3e-8ad5-5f5b0d2a0118/finalize', {}],
    ] as const) {
      const { status, body: answer } = await atConsole(service, 'POST', path, { ...session, body })
      expect([status, answer.code]).toEqual([403, 'CONSOLE_REFUSED'])
    }
  })

  // proves abuse: A session used as authority
  test('a session proposes a policy with the signature of its human alone, under exactly that proposal', async () => {
    const session = await logIn(service, human.key)
    const proposedContent = {
      policyId: 'proposed',
      policyVersion: '1.0.0',
      schemaVersion: '1.0.0',
      description: 'Made by a test.',
      capabilities: ['sandbox:echo'],
      signals: { approved: 'boolean' },
      rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
    }
    const said = {
      kind: 'policy',
      target: 'proposed/1.0.0',
      proposed: proposedContent,
      reason: 'A try.',
    } as const
    const post = (body: object) =>
      atConsole(service, 'POST', '/policies/proposed/1.0.0/pending-changes', { ...session, body })
    const proposal = { reason: said.reason, proposedContent }
    const signature = aProposalStepUp(human, said)
    for (const [stepUpAuthorization, why] of [
      [undefined, /missing or not of its shape/],
      [aStepUp(human, { changeId: randomUUID(), changeHash: 'a'.repeat(64) }), /not of its shape/],
      [aProposalStepUp(human, { ...said, reason: 'Another.' }), /its proposalHash is not that/],
      [aProposalStepUp(human, { ...said, target: 'proposed/1.0.1' }), /for another proposal/],
      [aProposalStepUp(aHuman('human'), said), /not by the caller's step-up key/],
    ] as const) {
      const { status, body } = await post({ ...proposal, stepUpAuthorization })
      expect([status, body.code]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
      expect(body.error).toMatch(why)
    }
    const { status, body: change } = await post({ ...proposal, stepUpAuthorization: signature })
    expect([status, change.status, change.proposedBy]).toEqual([201, 'PENDING_APPROVAL', 'human'])
    const again = await post({ ...proposal, stepUpAuthorization: signature })
    expect([again.status, again.body.error]).toEqual([403, expect.stringContaining('nonce has been used')])
    const { body: audit } = await service.get('/audit/events?type=governance.proposed', { key: auditor.key })
    const events = audit['events'] as {
      event: { detail: { changeId?: string; stepUpAuthorization?: unknown } }
    }[]
    const event = events.find(({ event: one }) => one.detail.changeId === change.changeId)?.event
    expect(event?.detail.stepUpAuthorization).toEqual(signature)
  })

  // proves abuse: A session used as authority
  test('a session closes what is in doubt with the signature of its human alone', async () => {
    const session = await logIn(service, human.key)
    const transaction = aTransaction()
    const { businessTransactionId: id } = transaction
    expect((await service.post('/execute', transaction)).status).toBe(200)
    await putInDoubt(database, id)
    const said = { resolution: 'EXECUTED', note: 'The provider has it.' }
    const post = (body: object) =>
      atConsole(service, 'POST', `/execution-intents/${id}/resolve`, { ...session, body })
    const bare = await post(said)
    expect([bare.status, bare.body.code]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
    const { body: intent } = await atConsole(service, 'GET', `/execution-intents/${id}`, session)
    expect(intent.state).toBe('RELEASED')
    const { businessTransactionHash } = intent.authorization.payload as { businessTransactionHash: string }
    const bound = { businessTransactionId: id, businessTransactionHash, ...said }
    const closed = await post({ ...said, stepUpAuthorization: aResolutionStepUp(human, bound) })
    expect([closed.status, closed.body.state]).toEqual([200, 'RESOLVED'])
  })

  // proves abuse: Another site’s page
  test('what does not come from a page of the console is refused, whatever its cookie says', async () => {
    const session = await logIn(service, human.key)
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': undefined },
    ])
      expect((await atConsole(service, 'GET', '/transactions', { ...session, headers })).body.code).toBe(
        'CONSOLE_REFUSED',
      )
    const post = await atConsole(service, 'POST', '/console/logout', {
      ...session,
      body: {},
      headers: { 'x-countersign-console': undefined },
    })
    expect(post.body.code).toBe('CONSOLE_REFUSED')
  })

  // proves abuse: Another server on the console’s host name
  test.each([undefined, '1', 'login', '', 'A'.repeat(43)])(
    'a cookie without the secret of its page shows nothing and does nothing: %j',
    async (secret) => {
      const session = await logIn(service, human.key)
      const other = await logIn(service, human.key)
      expect(other.cookie).not.toBe(session.cookie)
      const headers = { 'x-countersign-console': secret }
      for (const [method, path] of [
        ['GET', '/console/me'],
        ['GET', '/transactions'],
        ['POST', '/console/logout'],
      ] as const) {
        const sent = { ...session, headers, ...(method === 'POST' ? { body: {} } : {}) }
        const { status, body } = await atConsole(service, method, path, sent)
        expect([path, status, body.code]).toEqual([path, 403, 'CONSOLE_REFUSED'])
      }
      expect((await atConsole(service, 'GET', '/console/me', session)).status).toBe(200)
    },
  )
})

// proves abuse: The session’s cookie on the host
test('a cookie means nothing on the host of the API, and a key works on both', async () => {
  const { cookie } = await logIn(service, human.key)
  const elsewhere = await service.get('/transactions', {
    key: null,
    headers: { cookie: `${COOKIE}=${cookie}` },
  })
  expect(elsewhere.status).toBe(401)
  expect((await service.get('/console')).status).toBe(404)
  const program = await atConsole(service, 'GET', '/transactions', {
    headers: { authorization: `Bearer ${service.key}`, 'sec-fetch-site': undefined },
  })
  expect(program.status).toBe(200)
})

// proves abuse: The session’s cookie on the host
test('a cookie and a key together are refused', async () => {
  const session = await logIn(service, human.key)
  const headers = { authorization: `Bearer ${human.key}` }
  expect((await atConsole(service, 'GET', '/transactions', { ...session, headers })).status).toBe(400)
})

// proves abuse: A token of a session altered
test('a token that is altered, cut, or signed as something else is none', async () => {
  const { cookie } = await logIn(service, human.key)
  const [text = '', keyId = '', signature = ''] = cookie.split('.')
  const payload = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
  const later = Buffer.from(JSON.stringify({ ...payload, startedMs: Date.now() + 1e9 })).toString('base64url')
  for (const forged of [
    [later, keyId, signature],
    [text, keyId],
    [text, keyId, signature, signature],
    [text, Buffer.from('no-such-key').toString('base64url'), signature],
    [text, keyId, signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
    ['', '', ''],
  ])
    expect((await atConsole(service, 'GET', '/console/me', { cookie: forged.join('.') })).status).toBe(401)
})

test('after a logout no tab has a session, and other sessions stay', async () => {
  const [mine, others] = [await logIn(service, human.key), await logIn(service, human.key)]
  const out = await atConsole(service, 'POST', '/console/logout', { ...mine, body: {} })
  expect(out.status).toBe(204)
  // The views that a human keeps stand in the storage.
  expect(out.headers['clear-site-data']).toBe('"cache"')
  expect((await atConsole(service, 'GET', '/transactions', mine)).status).toBe(401)
  expect((await atConsole(service, 'GET', '/transactions', others)).status).toBe(200)
})

test.each(['/console', '/console/requests/a%20b', '/console/in-doubt'])(
  'with CONSOLE_ORIGIN, %s is not found on any other host',
  async (path) => {
    expect((await service.get(path, { key: null })).status).toBe(404)
    expect((await service.post(path, {}, { key: null })).status).toBe(404)
  },
)

test('pages that run scripts of others are not served there', async () => {
  for (const path of ['/documentation', '/reference', '/handbook', '/verifier'])
    expect((await atConsole(service, 'GET', path)).status).toBe(404)
})

test('the last seconds are shown, with what was executed in them', async () => {
  const session = await logIn(service, auditor.key)
  const headers = { prefer: 'wait=5' }
  let after = 0
  const seconds = async () => {
    const { body } = await atConsole(service, 'GET', `/console/data/live?after=${after}`, {
      ...session,
      headers,
    })
    return body.seconds as { at: number; executed: number; refused: number }[]
  }
  // Until the executions of other tests of this file are of before.
  for (let isQuiet = false; !isQuiet;)
    for (const second of await seconds()) {
      after = second.at
      isQuiet = second.executed === 0
    }
  expect((await service.post('/execute', aTransaction())).status).toBe(200)
  expect((await service.post('/execute', aTransaction({ signals: { approved: false } }))).status).toBe(500)
  let [executed, refused] = [0, 0]
  while (executed === 0 || refused === 0) {
    for (const second of await seconds()) {
      after = second.at
      executed += second.executed
      refused += second.refused
    }
  }
  // Refusals by other tests of this file may be in the same seconds.
  expect(executed).toBe(1)
})
