// Access tokens that are bound to a key (DPoP, RFC 9449): accepted with a proof by that key, once, whichever instance gets it.
import { createHash, randomUUID } from 'node:crypto'
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWK,
} from 'jose'
import { describe, expect, test } from 'vitest'
import { createCountersign, type ProvenRequest } from '../../clients/typescript/src/index.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { expectEvidence, type Members } from '../evidence.ts'
import { reply, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const ISSUER = 'https://login.example.com'
const STRICT = 'https://strict.example.com'
const PLAIN = 'https://plain.example.com'
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

withDatabase(async ({ start }) => {
  const jwks = { keys: [await exportJWK(issuerKey.publicKey)] }
  const known = { audience: AUDIENCE, jwks, algorithms: ['ES256'], allowedCapabilities: ['*'] }
  const issuers = [
    { ...known, issuer: ISSUER, dpop: { url: `${PUBLIC_URL}/` } },
    { ...known, issuer: STRICT, dpop: { url: PUBLIC_URL, required: true } },
    { ...known, issuer: PLAIN },
  ]
  const env = { SERVICE_TOKEN_ISSUERS: JSON.stringify(issuers) }
  services.push(await start({ env }), await start({ env }))
})

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
