// Callers by token of a provider that others wrote (oidc-provider), with a client that others wrote (openid-client) getting tokens and making proofs.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../src/cli/free-port.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { accountsOf } from '../../src/formats/verifier/account.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { expectEvidence, type Members } from '../evidence.ts'
import { leftOut, OTHERS } from '../others.ts'
import { PYTHON_CLIENT, pythonPath } from '../python.ts'
import { startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import {
  ACCESS_TOKEN,
  actOf,
  exchangeTokens,
  minted,
  TOKEN_EXCHANGE,
  type ExchangingProvider,
} from './token-exchange.ts'

const AUDIENCE = 'https://countersign.example.com'
const SECRET = 'the secret of the agent, which only this test knows'

/** The part of oidc-provider that is used here. */
interface OidcProvider {
  readonly Provider: new (
    issuer: string,
    configuration: object,
  ) => ExchangingProvider & { readonly callback: () => Parameters<typeof createServer>[1] & object }
}

/** The part of openid-client that is used here. */
interface OpenidClient {
  readonly discovery: (...given: readonly unknown[]) => Promise<object>
  readonly allowInsecureRequests: unknown
  readonly getDPoPHandle: (configuration: object, keyPair: CryptoKeyPair) => object
  readonly clientCredentialsGrant: (
    configuration: object,
    parameters: Readonly<Record<string, string>>,
    options?: { readonly DPoP?: object },
  ) => Promise<{ readonly access_token: string; readonly token_type: string }>
  readonly genericGrantRequest: (
    configuration: object,
    grantType: string,
    parameters: Readonly<Record<string, string>>,
  ) => Promise<{ readonly access_token: string }>
  readonly fetchProtectedResource: (...given: readonly unknown[]) => Promise<Response>
}

const module = <T>(name: string, file: string) =>
  import(pathToFileURL(join(OTHERS, name, file)).href) as Promise<T>

/** For each requested resource, access tokens are JWTs (RFC 9068) with that audience. */
const resourceServer = (audience: string) => ({
  audience,
  scope: 'countersign:sandbox:echo',
  accessTokenTTL: 300,
  accessTokenFormat: 'jwt',
  jwt: { sign: { alg: 'ES256' } },
})

const aClient = (id: string) => ({
  client_id: id,
  client_secret: SECRET,
  id_token_signed_response_alg: 'ES256',
  grant_types: ['client_credentials', TOKEN_EXCHANGE],
  response_types: [],
  redirect_uris: [],
})

const aProvider = async (issuer: string, { Provider }: OidcProvider) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const signing = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }
  const provider = new Provider(issuer, {
    jwks: { keys: [signing] },
    clients: [aClient('agent'), aClient('scheduler')],
    scopes: ['countersign:sandbox:echo'],
    ttl: { AccessToken: 300, ClientCredentials: 300 },
    extraTokenClaims: actOf,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, audience: string) => resourceServer(audience),
      },
    },
  })
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] }
  exchangeTokens(provider, { keys, serverOf: resourceServer })
  return provider
}

describe.skipIf(leftOut())('tokens of a provider, and proofs of a client, that others wrote', () => {
  let server: Server
  let service: TestService
  let client: OpenidClient
  let agent: object
  let provider: ExchangingProvider
  let issuer: string

  const granted = (resource: string, options?: { readonly DPoP: object }, by = agent) =>
    client.clientCredentialsGrant(by, { resource, scope: 'countersign:sandbox:echo' }, options)
  const clientNamed = (id: string) =>
    client.discovery(new URL(issuer), id, SECRET, undefined, { execute: [client.allowInsecureRequests] })
  /** The token that a client gets, in exchange, to use in place of the subject's. */
  const exchanged = async (subject: string, by: object) => {
    const { access_token: own } = await granted(AUDIENCE, undefined, by)
    const answer = await client.genericGrantRequest(by, TOKEN_EXCHANGE, {
      resource: AUDIENCE,
      subject_token: subject,
      subject_token_type: ACCESS_TOKEN,
      actor_token: own,
      actor_token_type: ACCESS_TOKEN,
    })
    return answer.access_token
  }
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
    const made = await aProvider(issuer, await module<OidcProvider>('oidc-provider', 'lib/index.js'))
    provider = made
    server.on('request', made.callback())
    client = await module<OpenidClient>('openid-client', 'build/index.js')
    agent = await clientNamed('agent')
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

  test('evidence has who used a token that was exchanged for a person, and both verifiers show it', async () => {
    const members = { accountId: 'dana', resource: AUDIENCE, serverOf: resourceServer }
    const signedIn = await minted(provider, { ...members, client: await provider.Client.find('agent') })
    const byAgent = await exchanged(signedIn.access_token, agent)
    const byScheduler = await exchanged(byAgent, await clientNamed('scheduler'))
    expect(decodeJwt(byScheduler)).toMatchObject({
      sub: 'dana',
      client_id: 'scheduler',
      act: { sub: 'scheduler', act: { sub: 'agent' } },
    })
    for (const [token, actor] of [
      [byAgent, 'agent'],
      [byScheduler, 'scheduler'],
    ] as const) {
      const transaction = aTransaction({ authority: { principalId: `${issuer}#dana` } })
      const answer = await asked(token, '/execute', { method: 'POST', body: JSON.stringify(transaction) })
      expect(answer.status).toBe(200)
      const record = (await answer.json()) as Members & { authorization: { payload: Members } }
      expect(record.authorization.payload).toMatchObject({
        callerId: `${issuer}#dana`,
        callerAuthentication: {
          method: 'access-token',
          issuer,
          subject: 'dana',
          actor,
          tokenHash: sha256Hex(token),
        },
      })
      expectEvidence(record, readPublicKeys(service.signingKeyDir))
      const shown = `access token of ${issuer} for dana, used by ${actor}`
      const [account] = accountsOf(JSON.stringify(record))
      expect(account?.said).toContainEqual(['Authenticated by', shown])
      expect(await verifiedByPython(record)).toContain(`  note  Authenticated by ${shown}\n`)
    }
  })

  /** @returns what the Python client's command prints of a record, which it must find valid */
  async function verifiedByPython(record: Members): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-exchange-'))
    const [evidence, keys] = [join(folder, 'record.json'), join(folder, 'jwks.json')]
    writeFileSync(evidence, JSON.stringify(record))
    writeFileSync(keys, await (await fetch(`${service.url}/.well-known/jwks.json`)).text())
    const env = { ...process.env, ...pythonPath(PYTHON_CLIENT) }
    const args = ['-m', 'countersign', 'verify', evidence, '--jwks', keys]
    const { status, stdout, stderr } = spawnSync('python3', args, { env, encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect([status, stderr]).toEqual([0, ''])
    return stdout
  }

  test('a token for another resource is refused', async () => {
    const { access_token: token } = await granted('https://elsewhere.example.com')
    const answer = await fetch(`${service.url}/callers/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(401)
  })
})
