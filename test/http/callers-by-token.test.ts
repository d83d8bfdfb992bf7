// Callers by token: access tokens (RFC 9068) and JWT-SVIDs, signed by `jose` as issuers sign them, with a server of this test that has their keys.
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCountersign } from '../../clients/typescript/src/index.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { parseTokenIssuers } from '../../src/core/callers/token-issuers.ts'
import { openTokens, type Tokens } from '../../src/core/callers/tokens.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { callerOfToken } from '../../workers/scoped-callers.ts'
import { aHuman } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { expectEvidence, type Members } from '../evidence.ts'
import { checked } from '../fsck/mix.ts'
import { reply, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const AUDIENCE = 'https://countersign.example.com'
const alice = aHuman('alice')
const TRUST_DOMAIN = 'spiffe://example.org'

/** Extractable: what the issuer publishes is compared with what an attacker makes of it. */
const aPair = (alg: string) => generateKeyPair(alg, { extractable: true })
type Pair = Awaited<ReturnType<typeof aPair>>

/** The issuer's server: it counts how often its keys are fetched. */
const published = { keys: [] as JWK[], fetched: 0, status: 200 }
let server: Server
let issuer: string
let pair: Pair
let workloads: Pair
let service: TestService
let database: TestDatabase

const publicKey = async ({ publicKey: key }: Pair, members: JWK): Promise<JWK> => ({
  ...(await exportJWK(key)),
  ...members,
})

interface Made {
  readonly claims?: object
  readonly header?: object
  readonly key?: Parameters<SignJWT['sign']>[0]
}

const seconds = (ms: number) => Math.floor(ms / 1000)

/** A token of the issuer, valid by default. */
function aToken({ claims, header, key = pair.privateKey }: Made = {}, nowMs = Date.now()): Promise<string> {
  const { sub = 'agent-1' } = (claims ?? {}) as { sub?: string }
  const payload = {
    iss: issuer,
    aud: AUDIENCE,
    sub,
    act_for: `${issuer}#${sub}`,
    client_id: 'agents',
    jti: randomUUID(),
    iat: seconds(nowMs),
    exp: seconds(nowMs) + 300,
    scope: 'openid countersign:sandbox:echo',
    ...claims,
  }
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt', ...header })
    .sign(key)
}

const anIssuer = (members: object = {}) => ({
  issuer,
  audience: AUDIENCE,
  jwksUri: `${issuer}/jwks`,
  algorithms: ['ES256'],
  scopePrefix: 'countersign:',
  principalClaim: 'act_for',
  ...members,
})

beforeAll(async () => {
  pair = await aPair('ES256')
  workloads = await aPair('RS256')
  published.keys = [await publicKey(pair, { kid: 'one', alg: 'ES256' })]
  server = createServer((_request, response) => {
    published.fetched++
    response.statusCode = published.status
    response.end(JSON.stringify({ keys: published.keys }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => server.close())

withDatabase(async ({ database: own, start }) => {
  database = own
  const jwks = { keys: [await publicKey(workloads, { kid: 'svid' })] }
  const workload = { issuer: TRUST_DOMAIN, audience: AUDIENCE, jwks, algorithms: ['RS256'] }
  const issuers = [anIssuer(), { ...workload, allowedCapabilities: ['sandbox:echo'] }]
  // By the header X-Forwarded-For a test comes from another address.
  const env = { SERVICE_TOKEN_ISSUERS: JSON.stringify(issuers), TRUST_PROXY_HOPS: '1' }
  service = await start({ callers: [alice.entry], env })
})

describe('a caller by token', () => {
  test('acts within its scopes, under a name that no key can have, and reads its own records alone', async () => {
    const key = await aToken()
    const callerId = `${issuer}#agent-1`
    expect(reply(await service.get('/callers/me', { key }))).toEqual({
      status: 200,
      body: {
        callerId,
        allowedPrincipalIds: [callerId],
        allowedCapabilities: ['sandbox:echo'],
        unrestrictedCapabilities: false,
      },
    })
    const transaction = aTransaction({ authority: { principalId: callerId } })
    const { status, body } = await service.post('/execute', transaction, { key })
    expect(status).toBe(200)
    expect([body.transaction.metadata.submittedBy, body.authorization.payload.callerId]).toEqual([
      callerId,
      callerId,
    ])
    expect(body.authorization.payload.callerAuthentication).toEqual({
      method: 'access-token',
      issuer,
      subject: 'agent-1',
      actor: 'agents',
      tokenHash: sha256Hex(key),
    })
    expectEvidence(body as Members, readPublicKeys(service.signingKeyDir))
    const own = `/transactions/${transaction.businessTransactionId}`
    expect((await service.get(own, { key })).status).toBe(200)
    const other = await aToken({ claims: { sub: 'agent-2' } })
    expect((await service.get(own, { key: other })).status).toBe(404)
    const elsewhere = aTransaction({
      authority: { principalId: callerId },
      intent: { action: 'crm:deal:update' },
    })
    expect((await service.post('/execute', elsewhere, { key })).status).toBe(403)
  })

  test('acts for the principals that its token names', async () => {
    const key = await aToken({ claims: { act_for: ['tester'] } })
    expect((await service.post('/execute', aTransaction(), { key })).status).toBe(200)
    const forAnother = aTransaction({ authority: { principalId: 'somebody' } })
    expect((await service.post('/execute', forAnother, { key })).status).toBe(403)
  })

  test('a workload has its SPIFFE ID as its name', async () => {
    const sub = `${TRUST_DOMAIN}/billing`
    const claims = { iss: undefined, sub, scope: undefined }
    const key = await aToken({
      claims,
      header: { alg: 'RS256', kid: 'svid', typ: 'JWT' },
      key: workloads.privateKey,
    })
    const transaction = aTransaction({ authority: { principalId: sub } })
    const { status, body } = await service.post('/execute', transaction, { key })
    expect([status, body.transaction.metadata.submittedBy]).toEqual([200, sub])
    expect(body.authorization.payload.callerAuthentication).toEqual({
      method: 'jwt-svid',
      issuer: TRUST_DOMAIN,
      subject: sub,
      actor: 'agents',
      tokenHash: sha256Hex(key),
    })
    expectEvidence(body as Members, readPublicKeys(service.signingKeyDir))
  })

  test('signed evidence says who used a token that was exchanged for a person, and nothing of a key', async () => {
    const act = { sub: 'assistant', act: { sub: 'scheduler' } }
    const key = await aToken({ claims: { sub: 'dana', act_for: 'tester', act } })
    const byToken = aTransaction()
    const { payload } = (await service.post('/execute', byToken, { key })).body.authorization
    expect(payload.callerAuthentication).toMatchObject({ subject: 'dana', actor: 'assistant' })
    const { body } = await service.post('/execute', aTransaction(), {})
    expect(Object.keys(body.authorization.payload)).not.toContain('callerAuthentication')
    // The authorization that is claimed before the connector call has the same bytes as in the record.
    const { rows } = await database.pool.query<{ text: string; record: string }>(
      `SELECT t.execution_authorization AS text, r.body AS record FROM business_transactions AS t
       JOIN trust_records AS r USING (business_transaction_id) WHERE t.business_transaction_id = $1`,
      [byToken.businessTransactionId],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]?.record.startsWith(`{"authorization":${rows[0].text},`)).toBe(true)
    expect((await checked(database, service.signingKeyDir)).lines).toEqual([])
  })

  test.each([
    ['100 deep', () => nestedAct(100)],
    ['no object', () => ({ sub: 'assistant', act: 'somebody' })],
    ['without a name', () => ({ sub: 'assistant', iss: 'https://other.example.com', act: [] })],
  ])('the outermost act alone is the actor: what stands in it may be %s', async (_what, act) => {
    const key = await aToken({ claims: { sub: 'dana', act_for: 'tester', act: act() } })
    const { payload } = (await service.post('/execute', aTransaction(), { key })).body.authorization
    expect(payload.callerAuthentication).toEqual({
      method: 'access-token',
      issuer,
      subject: 'dana',
      actor: 'assistant',
      tokenHash: sha256Hex(key),
    })
  })

  // proves abuse: A token whose `act` names a human or an approver
  test('has no right of the human whom its act names', async () => {
    const key = await aToken({ claims: { act: { sub: 'alice', credentialHolderType: 'USER' } } })
    const { body } = await service.get('/callers/me', { key })
    expect(body).toMatchObject({ callerId: `${issuer}#agent-1`, allowedPrincipalIds: [`${issuer}#agent-1`] })
    const forAlice = aTransaction({ authority: { principalId: 'alice' } })
    const statuses = [
      await service.get('/caller-keys', { key }),
      await service.post('/approvers/changes', {}, { key }),
      await service.post(`/approval-requests/${randomUUID()}/decline`, { reason: 'No.' }, { key }),
      await service.post('/execute', forAlice, { key }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([403, 403, 403, 403])
    const asAlice = await service.get('/caller-keys', { key: alice.key })
    expect(asAlice.status).toBe(200)
  })

  // proves abuse: A token that claims to be a human’s or an auditor’s
  test('is no human and no auditor, whatever its token says', async () => {
    const key = await aToken({
      claims: { credentialHolderType: 'USER', readAll: true, scope: 'countersign:* countersign:readAll' },
    })
    expect((await service.get('/callers/me', { key })).body).toMatchObject({
      allowedCapabilities: ['readAll'],
      unrestrictedCapabilities: false,
    })
    expect((await service.get('/caller-keys', { key })).status).toBe(403)
    expect((await service.post('/approvers/changes', {}, { key })).status).toBe(403)
    expect((await service.post('/execute', aTransaction(), { key })).status).toBe(403)
  })
})

test('the TypeScript client asks a function for the token of each request, and passes on what it throws', async () => {
  const subjects = ['agent-3', 'agent-4']
  const client = createCountersign({
    baseUrl: service.url,
    async apiKey() {
      const sub = subjects.shift()
      if (sub === undefined) throw new Error('logged out')
      return aToken({ claims: { sub } })
    },
  })
  expect((await client.callerIdentity()).callerId).toBe(`${issuer}#agent-3`)
  expect((await client.callerIdentity()).callerId).toBe(`${issuer}#agent-4`)
  await expect(client.callerIdentity()).rejects.toThrow('logged out')
})

// proves abuse: A key with the name of a caller by token
test('no key is issued for a name of the callers by token', async () => {
  const change = {
    action: 'issue',
    callerId: `${issuer}#x`.toUpperCase(),
    keyHash: 'a'.repeat(64),
    reason: 'test',
  }
  expect(reply(await service.post('/caller-keys/changes', change, { key: alice.key }))).toMatchObject({
    status: 400,
    body: { error: `callerId must not be a name of the callers by token of ${issuer}.` },
  })
})

/** Another address than the tests come from. */
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

/** An `act` with those who used the token before, `depth` in all: the outermost, who uses it now, is `assistant`. */
function nestedAct(depth: number): object {
  let act: object = { sub: 'scheduler' }
  for (let at = 2; at < depth; at++) act = { sub: 'relay', act }
  return { sub: 'assistant', act }
}

/** An attacker's forgeries of a token; each token is otherwise of a trusted issuer. */
const refusedTokens: readonly (readonly [what: string, make: () => Promise<string> | string])[] = [
  [
    'without a signature (`alg` none)',
    () => new UnsecuredJWT({ iss: issuer, sub: 'agent-1', aud: AUDIENCE }).encode(),
  ],
  [
    'signed by a shared secret that is the text of the public key',
    async () =>
      aToken({ header: { alg: 'HS256' }, key: new TextEncoder().encode(await exportSPKI(pair.publicKey)) }),
  ],
  ['by another key under a known kid', async () => aToken({ key: (await aPair('ES256')).privateKey })],
  [
    'with its own key in its header',
    async () => {
      const own = await aPair('ES256')
      return aToken({ header: { jwk: await exportJWK(own.publicKey), kid: undefined }, key: own.privateKey })
    },
  ],
  [
    'by an algorithm that is not configured',
    async () => aToken({ header: { alg: 'RS256' }, key: (await aPair('RS256')).privateKey }),
  ],
  ['for another audience', () => aToken({ claims: { aud: 'https://elsewhere.example.com' } })],
  ['of an issuer that is not configured', () => aToken({ claims: { iss: 'https://elsewhere.example.com' } })],
  ['that is an ID token (`typ` JWT)', () => aToken({ header: { typ: 'JWT' } })],
  ['without a typ', () => aToken({ header: { typ: undefined } })],
  ['that has expired', () => aToken({ claims: { exp: seconds(Date.now()) - 10 } })],
  ['of the future', () => aToken({ claims: { iat: seconds(Date.now()) + 60 } })],
  ['that is older than may be', () => aToken({ claims: { iat: seconds(Date.now()) - 7_200 } })],
  ['without exp', () => aToken({ claims: { exp: undefined } })],
  ['without iat', () => aToken({ claims: { iat: undefined } })],
  ['that does not name whom it acts for', () => aToken({ claims: { act_for: undefined } })],
  ['without sub', () => aToken({ claims: { sub: undefined } })],
  ['whose sub is no name', () => aToken({ claims: { sub: 'two words' } })],
  ['whose act is a text', () => aToken({ claims: { act: 'assistant' } })],
  ['whose act is a list', () => aToken({ claims: { act: [{ sub: 'assistant' }] } })],
  ['whose act is null', () => aToken({ claims: { act: null } })],
  ['whose act names nobody', () => aToken({ claims: { act: { iss: issuer } } })],
  ['whose act names a number', () => aToken({ claims: { act: { sub: 7 } } })],
  ['whose act has an empty name', () => aToken({ claims: { act: { sub: '' } } })],
  ['whose act has a name that cannot be seen', () => aToken({ claims: { act: { sub: 'dana\u200b' } } })],
  ['whose act has a name of 257 characters', () => aToken({ claims: { act: { sub: 'a'.repeat(257) } } })],
  ['whose act is larger than a token may be', () => aToken({ claims: { act: nestedAct(400) } })],
  ['bound to a key that nobody proves', () => aToken({ claims: { cnf: { jkt: 'x' } } })],
  [
    'of a workload of another trust domain',
    () =>
      aToken({
        claims: { iss: TRUST_DOMAIN, sub: 'spiffe://other.org/x' },
        header: { alg: 'RS256', kid: 'svid', typ: 'JWT' },
        key: workloads.privateKey,
      }),
  ],
]

describe('401', () => {
  // proves abuse: A token whose `act` names a human
  // proves abuse: A token that nobody issued for this service
  test.each(refusedTokens)('for a token %s', async (_what, make) => {
    const refused = await service.get('/callers/me', { key: await make() })
    expect(reply(refused)).toEqual({ status: 401, body: { error: 'authentication required' } })
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="countersign"')
  })

  test('for a body with a token that is refused, which is executed by nobody', async () => {
    const key = await aToken({ claims: { aud: 'x' } })
    const transaction = aTransaction()
    expect((await service.post('/execute', transaction, { key })).status).toBe(401)
    expect((await service.get(`/transactions/${transaction.businessTransactionId}`)).status).toBe(404)
    const [line] = service.lines().filter(({ cause }) => String(cause).includes('aud'))
    expect(line).toMatchObject({
      status: 401,
      cause: expect.stringContaining('ERR_JWT_CLAIM_VALIDATION_FAILED'),
    })
  })

  // proves abuse: Tokens with invented key ids
  // proves abuse: A flood of tokens that are no good
  test('for a flood of tokens, which costs the issuer one fetch, and other addresses and callers nothing', async () => {
    const thief = (await aPair('ES256')).privateKey
    const kinds: readonly ((at: number) => Promise<string>)[] = [
      (at) => aToken({ header: { kid: `invented-${at}` } }),
      () => aToken({ key: thief }),
      () => aToken({ claims: { aud: 'https://elsewhere.example.com' } }),
      async (at) => new UnsecuredJWT({ iss: issuer, sub: `agent-${at}`, aud: AUDIENCE }).encode(),
      () => aToken({ claims: { exp: seconds(Date.now()) - 10 } }),
      () => aToken({ claims: { iat: seconds(Date.now()) + 60 } }),
    ]
    const invented = await Promise.all(
      Array.from({ length: 30 }, (_, at) => Promise.all(kinds.map((make) => make(at)))),
    )
    const before = published.fetched
    let refusedCount = 0
    const flood = invented.flat().map(async (key) => {
      const { status } = await service.get('/callers/me', { key, ...from('192.0.2.1') })
      refusedCount++
      return status
    })
    // Tokens that are new to the service, and a caller with a key: none of them waits until the flood is over.
    const neighbours = await Promise.all([
      ...Array.from({ length: 4 }, async () => service.get('/callers/me', { key: await aToken() })),
      service.post('/execute', aTransaction(), from('192.0.2.3')),
    ])
    expect(neighbours.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(refusedCount).toBeLessThan(flood.length)
    expect(new Set(await Promise.all(flood))).toEqual(new Set([401]))
    expect(published.fetched - before).toBeLessThanOrEqual(1)
  })
})

describe('the keys of an issuer', () => {
  let nowMs: number
  let said: string[]
  let tokens: Tokens

  /** @returns the caller of a token, by a clock that the test moves */
  const callerOf = async (made?: Made) => {
    const found = await tokens.verify(await aToken(made, nowMs), 'somebody')
    return typeof found === 'string' ? found : found.caller.callerId
  }

  function open(taken: readonly string[] = []): void {
    nowMs = Date.now()
    said = []
    Object.assign(published, { status: 200, fetched: 0 })
    tokens = openTokens(parseTokenIssuers(JSON.stringify([anIssuer()])), {
      isTaken: (callerId) => taken.includes(callerId),
      log: (_line, message) => said.push(message),
      nowMs: () => nowMs,
    })
  }

  test('a new key is found half a minute after the last fetch, and one that is gone ends what it has signed', async () => {
    open()
    const name = `${issuer}#agent-1`
    const old = await aToken({}, nowMs)
    expect([await callerOf(), await callerOf()]).toEqual([name, name])
    expect(await tokens.verify(old, 'somebody')).toMatchObject({ caller: { callerId: name } })
    expect([tokens.known(old)?.caller.callerId, published.fetched]).toEqual([name, 1])
    const before = published.keys
    const next = await aPair('ES256')
    published.keys = [await publicKey(next, { kid: 'two', alg: 'ES256' })]
    const byNext = { header: { kid: 'two' }, key: next.privateKey }
    expect(await callerOf(byNext)).toContain('ERR_JWKS_NO_MATCHING_KEY')
    nowMs += 31_000
    expect(await callerOf(byNext)).toBe(name)
    expect([tokens.known(old), published.fetched]).toEqual([undefined, 2])
    expect(await callerOf()).toContain('ERR_JWKS_NO_MATCHING_KEY')
    published.keys = before
  })

  test('a key that its issuer took back verifies no new token after five minutes, whoever else asks', async () => {
    open()
    expect(await callerOf()).toBe(`${issuer}#agent-1`)
    const before = published.keys
    published.keys = [await publicKey(await aPair('ES256'), { kid: 'two', alg: 'ES256' })]
    nowMs += 5 * 60_000
    expect(await callerOf()).toContain('ERR_JWKS_NO_MATCHING_KEY')
    published.keys = before
  })

  test('keys that are known stay in use while the issuer is away, and the log says so once', async () => {
    open()
    expect(await callerOf()).toBe(`${issuer}#agent-1`)
    published.status = 500
    for (let minute = 0; minute < 20; minute++) {
      nowMs += 60_000
      expect(await callerOf()).toBe(`${issuer}#agent-1`)
      expect(await callerOf({ header: { kid: 'unknown' } })).toContain('ERR_JWKS_NO_MATCHING_KEY')
    }
    published.status = 200
    nowMs += 60_000
    expect(await callerOf({ header: { kid: 'unknown' } })).toContain('ERR_JWKS_NO_MATCHING_KEY')
    expect(said).toEqual([
      'the keys of a token issuer cannot be read: those that are known stay in use',
      'the keys of a token issuer are read again',
    ])
  })

  test('a verified token is known until it expires, also to a thread', async () => {
    open()
    const token = await aToken({}, nowMs)
    const found = await tokens.verify(token, 'somebody')
    const verified = typeof found === 'string' ? undefined : found.token
    expect(tokens.known(token)?.caller.callerId).toBe(`${issuer}#agent-1`)
    expect(verified && callerOfToken(verified, nowMs)).toMatchObject({ reads: `${issuer}#agent-1` })
    nowMs += 300_000
    expect(tokens.known(token)).toBeUndefined()
    expect(verified && callerOfToken(verified, nowMs)).toBeUndefined()
  })

  // proves abuse: A key with the name of a caller by token
  test('a caller whose name a key has is refused', async () => {
    open([`${issuer}#agent-1`])
    expect(await callerOf()).toBe(`a key has the callerId ${issuer}#agent-1`)
  })
})
