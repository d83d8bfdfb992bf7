// Access tokens that are bound to a key (DPoP, RFC 9449): accepted with a proof by that key, once, whichever instance gets it.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWK,
} from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { createCountersign, type ProvenRequest } from '../../clients/typescript/src/index.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { rememberFor } from '../../src/store/tables/rate-buckets.ts'
import { expectEvidence, type Members } from '../evidence.ts'
import type { TestDatabase } from '../database.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { reply, until, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const ISSUER = 'https://login.example.com'
const STRICT = 'https://strict.example.com'
const PLAIN = 'https://plain.example.com'
/** Its callers' proofs need a nonce. */
const NONCES = 'https://nonces.example.com'
const AUDIENCE = 'countersign'
/** By which callers reach the service: a proxy is in front of it. */
const PUBLIC_URL = 'https://api.example.com/countersign'

interface Holder {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
  readonly jkt: string
}

async function aHolder(alg = 'ES256'): Promise<Holder> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return { privateKey, jwk, jkt: await calculateJwkThumbprint(jwk) }
}

const issuerKey = await generateKeyPair('ES256')
const [holder, thief] = [await aHolder(), await aHolder()]
const services: TestService[] = []
let database: TestDatabase
/** Between the first of the services and the database. */
let proxy: DatabaseProxy

withDatabase(async ({ database: made, start }) => {
  database = made
  proxy = await openDatabaseProxy(made.url)
  const jwks = { keys: [await exportJWK(issuerKey.publicKey)] }
  const known = { audience: AUDIENCE, jwks, algorithms: ['ES256'], allowedCapabilities: ['*'] }
  const issuers = [
    { ...known, issuer: ISSUER, dpop: { url: `${PUBLIC_URL}/` } },
    { ...known, issuer: STRICT, dpop: { url: PUBLIC_URL, required: true } },
    { ...known, issuer: PLAIN },
    { ...known, issuer: NONCES, dpop: { url: PUBLIC_URL, nonces: true } },
  ]
  const env = { SERVICE_TOKEN_ISSUERS: JSON.stringify(issuers) }
  services.push(await start({ env, databaseUrl: proxy.url }), await start({ env }))
})

afterAll(() => proxy.cut())

/** @param iss its `cnf` binds it to the holder's key, where `claims` say nothing else */
function aToken(iss: string, claims: object = { cnf: { jkt: holder.jkt } }): Promise<string> {
  return new SignJWT({ jti: randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setIssuer(iss)
    .setAudience(AUDIENCE)
    .setSubject('agent-1')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(issuerKey.privateKey)
}

interface Changed {
  readonly by?: Holder
  readonly claims?: object
  readonly header?: object
}

/** A proof for GET /callers/me, valid by default. */
function aProof(token: string, { by = holder, claims, header }: Changed = {}): Promise<string> {
  const ath = createHash('sha256').update(token).digest('base64url')
  const iat = Math.floor(Date.now() / 1000)
  const htu = `${PUBLIC_URL}/callers/me`
  return new SignJWT({ jti: randomUUID(), htm: 'GET', htu, ath, iat, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: by.jwk, ...header })
    .sign(by.privateKey)
}

function callerOf(authorization: string, proof?: string, service = services[0]!): Promise<Called> {
  const headers = { authorization, ...(proof === undefined ? {} : { dpop: proof }) }
  return service.get('/callers/me?x=1', { key: null, headers })
}

test('a token that is bound to a key is accepted with a proof, and signed evidence names the key', async () => {
  const token = await aToken(ISSUER)
  for (let i = 0; i < 2; i++) {
    const answer = await callerOf(`DPoP ${token}`, await aProof(token))
    expect(reply(answer)).toMatchObject({ status: 200, body: { callerId: `${ISSUER}#agent-1` } })
  }
  const proven: ProvenRequest[] = []
  const client = createCountersign({
    baseUrl: PUBLIC_URL,
    apiKey: token,
    proof(request) {
      proven.push(request)
      return aProof(token, { claims: { htm: request.method, htu: request.url } })
    },
    // The proxy.
    async fetch(request) {
      const { url, method, headers } = request
      return fetch(url.replace(PUBLIC_URL, services[0]!.url), { method, headers, body: await request.text() })
    },
  })
  const transaction = aTransaction({ authority: { principalId: `${ISSUER}#agent-1` } })
  const record = await client.execute(transaction as never)
  expect(proven.map(({ method, url }) => `${method} ${url}`)).toEqual([`POST ${PUBLIC_URL}/execute`])
  expect(record.authorization.payload.callerAuthentication).toEqual({
    method: 'dpop',
    issuer: ISSUER,
    subject: 'agent-1',
    tokenHash: sha256Hex(token),
    keyThumbprint: holder.jkt,
  })
  expectEvidence(record as unknown as Members, readPublicKeys(services[0]!.signingKeyDir))
})

// proves abuse: A proof of possession sent again
test('a proof is good for one request, on whichever instance, also of several at once', async () => {
  const token = await aToken(ISSUER)
  const proof = await aProof(token)
  const sent = services.flatMap((service) =>
    Array.from({ length: 4 }, () => callerOf(`DPoP ${token}`, proof, service)),
  )
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(7).fill(401)])
  expect((await callerOf(`DPoP ${token}`, proof, services[1])).status).toBe(401)
  expect((await callerOf(`DPoP ${token}`, await aProof(token), services[1])).status).toBe(200)
})

const NONCE_CHALLENGE = /^DPoP realm="countersign", error="use_dpop_nonce", algs="ES256 /

/** @returns the answer to a proof with a nonce, and the nonce that it gives */
async function withNonce(token: string, nonce: string | undefined, service = services[0]!) {
  const answer = await callerOf(`DPoP ${token}`, await aProof(token, { claims: { nonce } }), service)
  return { answer, challenge: answer.headers.get('www-authenticate'), next: answer.headers.get('dpop-nonce') }
}

describe('a nonce for proofs', () => {
  // proves abuse: A proof of possession that was made in advance
  test('is asked for, is accepted by every instance, and makes no proof good twice', async () => {
    const token = await aToken(NONCES)
    const unasked = await withNonce(token, undefined)
    expect(reply(unasked.answer)).toEqual({ status: 401, body: { error: 'authentication required' } })
    expect(unasked.challenge).toMatch(NONCE_CHALLENGE)
    const nonce = unasked.next!
    const proof = await aProof(token, { claims: { nonce } })
    const accepted = await callerOf(`DPoP ${token}`, proof, services[1])
    expect([accepted.status, accepted.headers.get('dpop-nonce')]).toEqual([
      200,
      expect.stringMatching(/^[\w-]{22}$/),
    ])
    for (const service of services) {
      const again = await callerOf(`DPoP ${token}`, proof, service)
      expect([again.status, again.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('error="invalid_dpop_proof"'),
      ])
    }
    // A nonce is for many proofs, also where it was given out by another instance.
    expect((await withNonce(token, accepted.headers.get('dpop-nonce')!)).answer.status).toBe(200)
  })

  test.each([
    ['that nobody has given out', async () => 'A'.repeat(22)],
    ['that is no text of the service', async () => '"'],
    [
      'whose time is over',
      async () => {
        const nonce = randomBytes(16).toString('base64url')
        await rememberFor(database.pool, nonce, 0)
        return nonce
      },
    ],
  ])('%s is answered by another one', async (_what, nonceOf) => {
    const { challenge, next } = await withNonce(await aToken(NONCES), await nonceOf())
    expect(challenge).toMatch(NONCE_CHALLENGE)
    expect((await withNonce(await aToken(NONCES), next!)).answer.status).toBe(200)
  })

  test('is given to nobody who does not hold the key', async () => {
    const token = await aToken(NONCES)
    const stolen = await callerOf(`DPoP ${token}`, await aProof(token, { by: thief }))
    expect([stolen.status, stolen.headers.has('dpop-nonce')]).toEqual([401, false])
  })

  test('costs the TypeScript client one more request, and one execution', async () => {
    const token = await aToken(NONCES)
    const nonces: (string | undefined)[] = []
    const sent: string[] = []
    const client = createCountersign({
      baseUrl: PUBLIC_URL,
      apiKey: token,
      proof({ method, url, nonce }) {
        nonces.push(nonce)
        return aProof(token, { claims: { htm: method, htu: url, nonce } })
      },
      async fetch(request) {
        const { url, method, headers } = request
        sent.push(await request.text())
        const response = await fetch(url.replace(PUBLIC_URL, services[0]!.url), {
          method,
          headers,
          body: sent.at(-1)!,
        })
        return response
      },
    })
    const transaction = aTransaction({ authority: { principalId: `${NONCES}#agent-1` } })
    await client.execute(transaction as never)
    const again = aTransaction({ authority: { principalId: `${NONCES}#agent-1` } })
    await client.execute(again as never)
    expect(sent.map((text) => JSON.parse(text).businessTransactionId)).toEqual([
      transaction.businessTransactionId,
      transaction.businessTransactionId,
      again.businessTransactionId,
    ])
    const given = expect.stringMatching(/^[\w-]{22}$/)
    expect(nonces).toEqual([undefined, given, given])
  })
})

// proves abuse: A proof of possession while the database is away
test('503 while the database is away, and the proof is good afterwards: nothing was done with it', async () => {
  const token = await aToken(ISSUER)
  const proof = await aProof(token, { claims: { htm: 'POST', htu: `${PUBLIC_URL}/execute` } })
  const transaction = aTransaction({ authority: { principalId: `${ISSUER}#agent-1` } })
  const send = () =>
    services[0]!.post('/execute', transaction, {
      key: null,
      headers: { authorization: `DPoP ${token}`, dpop: proof },
    })
  await proxy.cut()
  expect((await send()).status).toBe(503)
  await proxy.mend()
  await until(async () => (await services[0]!.get('/ready')).status === 200, 'the database again')
  expect((await send()).status).toBe(200)
})

/** A proof of a header alone. */
const aHeader = (header: unknown) => `${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.AAAA`

const now = () => Math.floor(Date.now() / 1000)

/** By what an attacker, or a program with a mistake, sends with a token that is bound to the holder's key. */
const refused: readonly (readonly [what: string, send: (token: string) => Promise<Called>])[] = [
  ['without a proof', (token) => callerOf(`DPoP ${token}`)],
  ['as a bearer token', async (token) => callerOf(`Bearer ${token}`, await aProof(token))],
  [
    'stolen, with a proof by another key',
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { by: thief })),
  ],
  [
    "stolen, with the holder's key in a proof that another key signed",
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { by: { ...thief, jwk: holder.jwk } })),
  ],
  [
    'with a proof for another method',
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { claims: { htm: 'POST' } })),
  ],
  [
    'with a proof for another path',
    async (token) =>
      callerOf(`DPoP ${token}`, await aProof(token, { claims: { htu: `${PUBLIC_URL}/execute` } })),
  ],
  [
    'with a proof for the host that the request names',
    async (token) =>
      callerOf(`DPoP ${token}`, await aProof(token, { claims: { htu: `${services[0]!.url}/callers/me` } })),
  ],
  [
    'with a proof for another token',
    async (token) => callerOf(`DPoP ${token}`, await aProof(await aToken(ISSUER))),
  ],
  [
    'with an old proof',
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { claims: { iat: now() - 40 } })),
  ],
  [
    'with a proof of the future',
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { claims: { iat: now() + 40 } })),
  ],
  [
    'with a proof without jti',
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { claims: { jti: undefined } })),
  ],
  [
    'with a proof without iat',
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { claims: { iat: undefined } })),
  ],
  [
    'with a proof that is another JWT',
    async (token) => callerOf(`DPoP ${token}`, await aProof(token, { header: { typ: 'JWT' } })),
  ],
  ['with the token as its proof', (token) => callerOf(`DPoP ${token}`, token)],
  ['with an unsigned proof', (token) => callerOf(`DPoP ${token}`, new UnsecuredJWT({ htm: 'GET' }).encode())],
  ['with a proof whose key is null', (token) => callerOf(`DPoP ${token}`, aHeader({ jwk: null }))],
  ['with a proof whose key is empty', (token) => callerOf(`DPoP ${token}`, aHeader({ jwk: {} }))],
  ['with a proof whose header is no object', (token) => callerOf(`DPoP ${token}`, aHeader('x'))],
  [
    'with two proofs',
    async (token) => callerOf(`DPoP ${token}`, `${await aProof(token)}, ${await aProof(token)}`),
  ],
]

describe('401', () => {
  // proves abuse: A stolen token that is bound to a key
  test.each(refused)('for a bound token %s', async (_what, send) => {
    const answer = await send(await aToken(ISSUER))
    expect(reply(answer)).toEqual({ status: 401, body: { error: 'authentication required' } })
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^DPoP realm="countersign", error="invalid_dpop_proof", algs="ES256 /,
    )
  })

  test('for a token that is bound to no key, where its issuer requires that, or with the scheme DPoP', async () => {
    expect((await callerOf(`Bearer ${await aToken(STRICT, {})}`)).status).toBe(401)
    const bound = await aToken(STRICT)
    expect((await callerOf(`DPoP ${bound}`, await aProof(bound))).status).toBe(200)
    const bearer = await aToken(ISSUER, {})
    expect((await callerOf(`Bearer ${bearer}`)).status).toBe(200)
    expect((await callerOf(`DPoP ${bearer}`, await aProof(bearer))).status).toBe(401)
  })

  test('for a bound token of an issuer for which no address is configured, and for one bound otherwise', async () => {
    const plain = await aToken(PLAIN)
    expect((await callerOf(`DPoP ${plain}`, await aProof(plain))).status).toBe(401)
    for (const cnf of [{ 'x5t#S256': holder.jkt }, { jkt: 'x' }, { jkt: holder.jkt, kid: '1' }, null, 'x']) {
      const token = await aToken(ISSUER, { cnf })
      expect((await callerOf(`DPoP ${token}`, await aProof(token))).status).toBe(401)
    }
  })
})
