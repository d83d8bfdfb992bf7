// Callers by token of a provider that others wrote (oidc-provider), with a client that others wrote (openid-client) getting tokens and making proofs.
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../src/cli/free-port.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { expectEvidence, type Members } from '../evidence.ts'
import { leftOut, OTHERS } from '../others.ts'
import { startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const AUDIENCE = 'https://countersign.example.com'
const SECRET = 'the secret of the agent, which only this test knows'

/** What is used of oidc-provider. */
interface OidcProvider {
  readonly Provider: new (
    issuer: string,
    configuration: object,
  ) => { readonly callback: () => Parameters<typeof createServer>[1] & object }
}

/** What is used of openid-client. */
interface OpenidClient {
  readonly discovery: (...given: readonly unknown[]) => Promise<object>
  readonly allowInsecureRequests: unknown
  readonly getDPoPHandle: (configuration: object, keyPair: CryptoKeyPair) => object
  readonly clientCredentialsGrant: (
    configuration: object,
    parameters: Readonly<Record<string, string>>,
    options?: { readonly DPoP?: object },
  ) => Promise<{ readonly access_token: string; readonly token_type: string }>
  readonly fetchProtectedResource: (...given: readonly unknown[]) => Promise<Response>
}

const module = <T>(name: string, file: string) =>
  import(pathToFileURL(join(OTHERS, name, file)).href) as Promise<T>

/** Whatever resource is asked for, its access tokens are JWTs (RFC 9068) for it. */
const resourceServer = (_context: unknown, audience: string) => ({
  audience,
  scope: 'countersign:sandbox:echo',
  accessTokenTTL: 300,
  accessTokenFormat: 'jwt',
  jwt: { sign: { alg: 'ES256' } },
})

const aProvider = async (issuer: string, { Provider }: OidcProvider) => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const signing = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }
  return new Provider(issuer, {
    jwks: { keys: [signing] },
    clients: [
      {
        client_id: 'agent',
        client_secret: SECRET,
        id_token_signed_response_alg: 'ES256',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    scopes: ['countersign:sandbox:echo'],
    ttl: { ClientCredentials: 300 },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: resourceServer },
    },
  })
}

describe.skipIf(leftOut())('tokens of a provider, and proofs of a client, that others wrote', () => {
  let server: Server
  let service: TestService
  let client: OpenidClient
  let agent: object
  let issuer: string

  const granted = (resource: string, options?: { readonly DPoP: object }) =>
    client.clientCredentialsGrant(agent, { resource, scope: 'countersign:sandbox:echo' }, options)
  const asked = (
    token: string,
    path: string,
    { method = 'GET', body, ...options }: { method?: string; body?: string; DPoP?: object } = {},
  ) =>
    client.fetchProtectedResource(
      agent,
      token,
      new URL(service.url + path),
      method,
      body,
      new Headers({ 'content-type': 'application/json' }),
      options,
    )

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const provider = await aProvider(issuer, await module<OidcProvider>('oidc-provider', 'lib/index.js'))
    server.on('request', provider.callback())
    client = await module<OpenidClient>('openid-client', 'build/index.js')
    agent = await client.discovery(new URL(issuer), 'agent', SECRET, undefined, {
      execute: [client.allowInsecureRequests],
    })
    // Proofs name the address of the service, so it must be known before the start.
    const port = await freePort()
    const trusted = {
      issuer,
      audience: AUDIENCE,
      jwksUri: `${issuer}/jwks`,
      algorithms: ['ES256'],
      scopePrefix: 'countersign:',
      dpop: { url: `http://127.0.0.1:${port}`, nonces: true },
    }
    service = await startService({
      env: { PORT: String(port), SERVICE_TOKEN_ISSUERS: JSON.stringify([trusted]) },
    })
  })

  afterAll(async () => {
    server.close()
    expect(await service.stop()).toBe(0)
  })

  test('a bearer token names its caller and grants its scopes', async () => {
    const { access_token: token } = await granted(AUDIENCE)
    const answer = await asked(token, '/callers/me')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        callerId: `${issuer}#agent`,
        allowedPrincipalIds: [`${issuer}#agent`],
        allowedCapabilities: ['sandbox:echo'],
        unrestrictedCapabilities: false,
      },
    ])
  })

  test('a bound token executes with proofs and the nonce that is asked for, and is no bearer token', async () => {
    const keys = await generateKeyPair('ES256', { extractable: true })
    const DPoP = client.getDPoPHandle(agent, keys)
    const { access_token: token, token_type: type } = await granted(AUDIENCE, { DPoP })
    expect([type, decodeJwt(token)['cnf']]).toEqual(['dpop', expect.anything()])
    const transaction = aTransaction({ authority: { principalId: `${issuer}#agent` } })
    const answer = await asked(token, '/execute', {
      method: 'POST',
      body: JSON.stringify(transaction),
      DPoP,
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('dpop-nonce')).not.toBeNull()
    const record = (await answer.json()) as Members & {
      authorization: { payload: { callerAuthentication: unknown } }
    }
    expect(record.authorization.payload.callerAuthentication).toEqual({
      method: 'dpop',
      issuer,
      subject: 'agent',
      tokenHash: sha256Hex(token),
      keyThumbprint: await calculateJwkThumbprint(await exportJWK(keys.publicKey)),
    })
    expectEvidence(record, readPublicKeys(service.signingKeyDir))
    // The client was asked for a nonce first, and nothing was executed then.
    const statuses = () =>
      service
        .lines()
        .filter(({ path }) => path === '/execute')
        .map(({ status }) => status)
    await until(() => statuses().length > 1, 'the lines of both requests')
    expect(statuses()).toEqual([401, 200])
    const stolen = await fetch(`${service.url}/callers/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(stolen.status).toBe(401)
  })

  test('a token for another resource is refused', async () => {
    const { access_token: token } = await granted('https://elsewhere.example.com')
    const answer = await fetch(`${service.url}/callers/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(401)
  })
})
