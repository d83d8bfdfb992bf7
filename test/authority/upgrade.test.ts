// Authority across an upgrade from the release that kept it in six tables: everything stands, and instances of both releases go on together.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { patientPool } from '../patient-pool.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { fingerprintOf } from '../../src/store/tables/authority.ts'
import {
  aHuman,
  anApprover,
  anEnrolment,
  proposed,
  putInEffect,
  resolved,
  type Change,
} from '../authority.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { checked } from '../fsck/mix.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { reply, startService, until, type TestService } from '../service.ts'
import { configured, connector, document, endpoint, issue, KEYS, rule } from './upgrade/every-change.ts'
import { keysBeside, restore, rowsIn, type Row } from './upgrade/fixture.ts'
import { asBefore } from './upgrade/statements.ts'

const maker = aHuman('maker')
const checker = aHuman('checker')
const humans = { maker, checker }
const signingKeyDir = keysBeside()
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-one',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})

let database: TestDatabase
let service: TestService

beforeAll(async () => {
  database = await createDatabase('template0')
  await restore(database)
  service = await startService({
    databaseUrl: database.url,
    signingKeyDir,
    callers: [maker.entry, checker.entry, configured],
    env: { POLICY_DIR: policyDir, LOG: 'off' },
  })
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await database.drop()
  for (const dir of [signingKeyDir, policyDir]) rmSync(dir, { recursive: true })
})

async function listed<Entry>(path: string): Promise<Entry[]> {
  const { body } = await service.get(path, { key: maker.key })
  return Object.values(body as Record<string, Entry[]>).at(-1)!
}

/** Rows in which `authority` and the six tables differ. */
async function differences(): Promise<unknown[]> {
  const columns = `kind, key, target, stated, stated_hash, unique_key, began_by, began_at, began_by_change, ended_by, ended_at, ended_by_change`
  const [one, other] = ['authority', 'authority_of_tables'].map((from) => `SELECT ${columns} FROM ${from}`)
  const { rows } = await database.pool.query(`(${one} EXCEPT ${other}) UNION ALL (${other} EXCEPT ${one})`)
  return rows
}

const iso = (time: string | null | undefined) => (time === null ? null : new Date(String(time)).toISOString())
const byText = (rows: readonly object[]) => rows.map((row) => canonicalize(row as Json)).toSorted()

const byProvider = (rows: readonly unknown[][]) =>
  rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))

const statusOf = async (key: string) => (await service.get('/policies/in-effect', { key })).status

const loadedVersion = (description: string) => {
  const content = canonicalize({ ...document, policyId: 'loaded', policyVersion: '1.0.0', description })
  return { name: 'loaded', version: '1.0.0', content, contentHash: sha256Hex(content) }
}

describe('after an upgrade', () => {
  test('the same keys of approvers count, and the same are revoked', async () => {
    const expected = rowsIn('approvers').map((row) => ({
      approverId: row['approver_id']!,
      keyId: row['key_id']!,
      publicKeyPem: row['public_key_pem']!,
      ...(row['passkey'] === null ? {} : { passkey: JSON.parse(String(row['passkey'])) as Json }),
      enrolledAt: iso(row['enrolled_at']),
      ...(row['revoked_at'] === null ? {} : { revokedAt: iso(row['revoked_at']) }),
    }))
    expect(expected).toHaveLength(3)
    expect(byText(await listed('/approvers'))).toEqual(byText(expected))
  })

  test('the same connectors and endpoints are in effect', async () => {
    const connectors = rowsIn('external_connectors').filter((row) => row['revoked_at'] === null)
    expect(connectors).toHaveLength(2)
    expect(byText(await listed('/external-connectors'))).toEqual(
      byText(
        connectors.map((row) => ({
          changeId: row['change_id']!,
          capability: row['capability']!,
          endpointUrl: row['endpoint_url']!,
          policy: row['policy']!,
          allowedParameters: JSON.parse(String(row['allowed_parameters'])) as Json,
          timeoutMs: row['timeout_ms']!,
          readBack: row['read_back']!,
          registeredAt: iso(row['registered_at']),
        })),
      ),
    )
    const endpoints = rowsIn('event_endpoints').filter((row) => row['revoked_at'] === null)
    expect(await listed('/event-endpoints')).toMatchObject(
      endpoints.map((row) => ({
        endpointId: row['endpoint_id'],
        url: row['url'],
        types: JSON.parse(String(row['types'])) as Json,
        withParameters: true,
        registeredAt: iso(row['registered_at']),
      })),
    )
  })

  test('the same rules stand, those that came back and those that nobody has approved', async () => {
    const shown = (await listed<Row>('/webhook-rules')).map((row) => [
      row['provider'],
      row['rulesHash'],
      row['status'],
      row['approvedAt'] ?? null,
      row['approvedByChange'] ?? null,
    ])
    const expected = rowsIn('webhook_rules')
      .toSorted((a, b) => (String(a['approved_at']) > String(b['approved_at']) ? -1 : 1))
      .map((row, i, all) => {
        const isFirst = all.findIndex((one) => one['provider'] === row['provider']) === i
        const status = row['approved_by'] === null ? 'LOADED' : isFirst ? 'IN_EFFECT' : 'REPLACED'
        return [
          row['provider'],
          row['rules_hash'],
          status,
          iso(row['approved_at']),
          row['approved_by_change'],
        ]
      })
    // Those of the shipped files are loaded anew by each start.
    expect(byProvider(shown)).toEqual(byProvider(expected))
  })

  test('the same policy versions are approved, loaded and retired, and by whom', async () => {
    for (const row of rowsIn('policy_versions')) {
      const { body } = await service.get(`/policies/${String(row['name'])}/${String(row['version'])}`)
      const said = [
        'approvedBy',
        'approvedAt',
        'approvedByChange',
        'retiredBy',
        'retiredAt',
        'retiredByChange',
      ]
      expect(said.map((member) => body[member] ?? null)).toEqual([
        row['approved_by'],
        iso(row['approved_at']),
        row['approved_by_change'],
        row['retired_by'],
        iso(row['retired_at']),
        row['retired_by_change'],
      ])
      expect(body).toMatchObject({
        contentHash: row['content_hash'],
        document: JSON.parse(String(row['content'])),
      })
    }
  })

  test('the same keys of callers open, and the revoked ones do not, the configured one too', async () => {
    expect(await Promise.all(Object.values(KEYS).map(statusOf))).toEqual([200, 200, 401, 401])
    const shown = (await listed<Row>('/caller-keys')).filter(
      (row) => row['status'] !== 'IN_EFFECT' || row['issuedAt'],
    )
    expect(
      shown.map((row) => [row['callerId'], row['status'], row['issuedBy'] ?? null, row['revokedBy'] ?? null]),
    ).toEqual([
      ['agent', 'IN_EFFECT', 'checker', null],
      ['agent', 'REVOKED', 'checker', 'checker'],
      ['dora', 'IN_EFFECT', 'checker', null],
      ['old-bot', 'REVOKED', null, 'checker'],
    ])
  })

  test('nothing is stated otherwise than before, and fsck finds it so', async () => {
    expect(await differences()).toEqual([])
    expect((await checked(database, signingKeyDir)).lines).toEqual([])
  })

  test('what was proposed before is decided', async () => {
    const open = await listed<Change>('/changes?status=PENDING_APPROVAL')
    expect(new Set(open.map(({ kind }) => kind)).size).toBe(6)
    for (const change of open) expect((await resolved(service, checker, change, 'approve')).status).toBe(200)
    expect(await differences()).toEqual([])
    expect((await checked(database, signingKeyDir)).lines).toEqual([])
    expect((await service.get('/policies/limited/2.1.0')).body.replacedBy).toBe('4.0.0')
    expect((await service.get('/policies/in-effect', { key: KEYS.issued })).status).toBe(401)
    expect(await listed('/event-endpoints')).toEqual([])
  })
})

type Statements = (
  name: Parameters<typeof asBefore>[1],
  values: Parameters<typeof asBefore>[2],
) => Promise<void>

/** Proposes here, and approves as an instance of the release before does: authority first, then the change, in one transaction. */
async function approvedBefore(
  path: string,
  body: object,
  apply: (run: Statements, change: Change) => Promise<void>,
): Promise<Change> {
  const change = await proposed(service, maker, path, body)
  const [by, at] = ['checker', new Date().toISOString()]
  const client = await database.pool.connect()
  try {
    await client.query('BEGIN')
    const run: Statements = async (name, values) =>
      expect([name, await asBefore(client, name, { by, at, changeId: change.changeId, ...values })]).toEqual([
        name,
        1,
      ])
    await apply(run, change)
    const signed = { ...change, warnings: undefined, diff: undefined, signature: undefined }
    const resolution = { ...signed, status: 'APPROVED', resolvedBy: by, resolvedAt: at }
    await run('storeResolution', { body: JSON.stringify(resolution) })
    await run('advanceEpoch', {})
    await client.query('COMMIT')
  } finally {
    client.release()
  }
  return change
}

describe('in a rolling restart', () => {
  const keyHash = sha256Hex('csk_rolling')
  const pem = anApprover('erik').publicKeyPem
  const url = `${endpoint.url}/rolling`

  // proves fault: Humans approve changes of every kind
  test.each<[string, string, object, (run: Statements) => Promise<void>, () => Promise<unknown>, unknown]>([
    [
      'a policy and the end of another',
      '/policies/limited/5.0.0/pending-changes',
      { proposedContent: { ...document, policyVersion: '5.0.0' }, retires: ['4.0.0'], reason: 'test' },
      async (run) => {
        const content = canonicalize({ ...document, policyVersion: '5.0.0' })
        await run('approvePolicyVersion', {
          name: 'limited',
          version: '5.0.0',
          content,
          contentHash: sha256Hex(content),
        })
        await run('retirePolicyVersions', { name: 'limited', versions: ['4.0.0'] })
      },
      async () => (await service.get('/policies/limited/4.0.0')).body.replacedBy,
      '5.0.0',
    ],
    [
      'rules in the place of others',
      '/webhook-rules/changes',
      { provider: 'acme', rules: [{ ...rule, id: 'rolling' }], reason: 'test' },
      (run) => {
        const content = canonicalize({ provider: 'acme', rules: [{ ...rule, id: 'rolling' }] })
        return run('approveWebhookRules', { provider: 'acme', rulesHash: sha256Hex(content), content })
      },
      async () => (await listed<{ rules: { id: string }[] }>('/webhook-rules'))[0]?.rules[0]?.id,
      'rolling',
    ],
    [
      'a key of an approver',
      '/approvers/changes',
      { ...anEnrolment(anApprover('erik')), publicKeyPem: pem },
      (run) =>
        run('enrolApprover', {
          approverId: 'erik',
          keyId: 'k1',
          publicKeyPem: pem,
          fingerprint: fingerprintOf(pem),
        }),
      async () =>
        (await listed<{ publicKeyPem: string }>('/approvers')).some((one) => one.publicKeyPem === pem),
      true,
    ],
    [
      'the end of a key of an approver',
      '/approvers/changes',
      { action: 'revoke', approverId: 'erik', keyId: 'k1', reason: 'test' },
      (run) => run('revokeApprover', { approverId: 'erik', keyId: 'k1' }),
      async () =>
        (await listed<Row>('/approvers')).find((one) => one['approverId'] === 'erik')?.['revokedAt'] !==
        undefined,
      true,
    ],
    [
      'a connector',
      '/external-connectors/changes',
      { ...connector, capability: 'vendor:roll', timeoutMs: 3000, readBack: true },
      (run) =>
        run('registerExternalConnector', {
          ...connector,
          capability: 'vendor:roll',
          allowedParameters: JSON.stringify(connector.allowedParameters),
          timeoutMs: 3000,
          readBack: true,
        }),
      async () =>
        (await listed<Row>('/external-connectors')).find((one) => one['capability'] === 'vendor:roll')?.[
          'readBack'
        ],
      true,
    ],
    [
      'the end of a connector',
      '/external-connectors/changes',
      { action: 'revoke', capability: 'vendor:roll', reason: 'test' },
      (run) => run('revokeExternalConnector', { capability: 'vendor:roll' }),
      async () =>
        (await listed<Row>('/external-connectors')).some((one) => one['capability'] === 'vendor:roll'),
      false,
    ],
    [
      'an endpoint of events',
      '/event-endpoints/changes',
      { ...endpoint, url, callerIds: ['tester'] },
      (run) =>
        run('registerEventEndpoint', {
          url,
          types: JSON.stringify(endpoint.types),
          withParameters: false,
          callerIds: '["tester"]',
        }),
      async () => (await listed<Row>('/event-endpoints')).find((one) => one['url'] === url)?.['callerIds'],
      ['tester'],
    ],
    [
      'the end of an endpoint of events',
      '/event-endpoints/changes',
      { action: 'revoke', url, reason: 'test' },
      (run) => run('revokeEventEndpoint', { url }),
      async () => (await listed<Row>('/event-endpoints')).some((one) => one['url'] === url),
      false,
    ],
    [
      'a key of a caller',
      '/caller-keys/changes',
      { ...issue, callerId: 'roller', keyHash, expiresAt: '2999-01-01T00:00:00Z' },
      (run) =>
        run('issueCallerKey', {
          callerId: 'roller',
          keyHash,
          expiresAt: '2999-01-01T00:00:00.000Z',
          scope: canonicalize({
            allowedCapabilities: ['sandbox:echo'],
            allowedPrincipalIds: ['roller'],
            credentialHolderType: 'SERVICE',
            readAll: false,
          }),
        }),
      async () => (await service.get('/policies/in-effect', { key: 'csk_rolling' })).status,
      200,
    ],
    [
      'the end of a key of a caller',
      '/caller-keys/changes',
      { action: 'revoke', callerId: 'roller', keyId: keyHash.slice(0, 16), reason: 'test' },
      (run) => run('revokeCallerKey', { callerId: 'roller', keyHash }),
      async () => (await service.get('/policies/in-effect', { key: 'csk_rolling' })).status,
      401,
    ],
  ])(
    '%s that the release before approves is taken up, as its change says',
    async (_, path, body, apply, seen, due) => {
      const { changeId, proposed: said } = await approvedBefore(path, body, apply)
      await until(
        async () => JSON.stringify(await seen()) === JSON.stringify(due),
        'this instance to know it',
      )
      expect(await differences()).toEqual([])
      const { rows } = await database.pool.query<{ stated: string; by: string }>(
        `SELECT stated, began_by AS by FROM authority WHERE began_by_change = $1
       UNION ALL SELECT NULL, ended_by FROM authority WHERE ended_by_change = $1`,
        [changeId],
      )
      expect(rows.length).toBeGreaterThan(0)
      for (const { stated, by } of rows) {
        expect(by).toBe('checker')
        const { retires: _1, ...whole } = said as { readonly [member: string]: Json }
        if (stated !== null) expect(stated).toBe(canonicalize(whole))
      }
    },
  )

  test('an end stands that comes while the release before copies its tables', async () => {
    const { changeId } = await putInEffect(
      service,
      humans,
      '/approvers/changes',
      anEnrolment(anApprover('both')),
    )
    const pool = patientPool(database.url, 2)
    const [here, before] = await Promise.all([pool.connect(), pool.connect()])
    try {
      await here.query('BEGIN')
      await here.query(
        `UPDATE authority SET ended_by = 'checker', ended_at = now(), ended_by_change = $1 WHERE began_by_change = $1`,
        [changeId],
      )
      const { rows } = await before.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const copying = asBefore(before, 'dropAllLoadedRules')
      await until(async () => {
        const { rows: waiting } = await database.pool.query(
          `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'`,
          [rows[0]?.pid],
        )
        return waiting.length === 1
      }, 'the release before to wait')
      await here.query('COMMIT')
      await copying
    } finally {
      here.release()
      before.release()
      await pool.end()
    }
    const { rows: ended } = await database.pool.query(
      `SELECT FROM authority WHERE began_by_change = $1 AND ended_at IS NOT NULL`,
      [changeId],
    )
    expect(ended).toHaveLength(1)
    expect(await differences()).toEqual([])
  })

  test('what a start of the release before loads and drops is known here', async () => {
    const content = canonicalize({ provider: 'filed', rules: [rule] })
    for (const policy of [loadedVersion('first'), loadedVersion('second')])
      await asBefore(database.pool, 'addPolicyVersion', policy)
    await asBefore(database.pool, 'loadWebhookRules', {
      providers: ['filed'],
      hashes: [sha256Hex(content)],
      contents: [content],
    })
    const loaded = async () => {
      const { rows } = await database.pool.query<{ target: string; stated: string }>(
        `SELECT target, stated FROM authority WHERE began_at IS NULL AND target IN ('loaded/1.0.0', 'filed') ORDER BY target`,
      )
      return rows
    }
    const { content: stated } = loadedVersion('second')
    expect(await loaded()).toEqual([
      { target: 'filed', stated: content },
      { target: 'loaded/1.0.0', stated },
    ])
    await asBefore(database.pool, 'dropAllLoadedRules')
    expect(await loaded()).toEqual([{ target: 'loaded/1.0.0', stated }])
    expect(await differences()).toEqual([])
  })

  // proves fault: Humans approve changes of every kind
  test('what is approved here stands in the tables of the release before', async () => {
    const made = await Promise.all(
      (
        [
          ['/approvers/changes', anEnrolment(anApprover('late'))],
          ['/external-connectors/changes', { ...connector, capability: 'vendor:late' }],
          ['/event-endpoints/changes', { ...endpoint, url: `${url}/late` }],
          ['/webhook-rules/changes', { provider: 'late', rules: [rule], reason: 'test' }],
          ['/caller-keys/changes', { ...issue, keyHash: sha256Hex(randomUUID()) }],
          [
            '/policies/late/1.0.0/pending-changes',
            { proposedContent: { ...document, policyId: 'late', policyVersion: '1.0.0' }, reason: 'test' },
          ],
        ] as const
      ).map(([path, body]) => putInEffect(service, humans, path, body)),
    )
    const { rows } = await database.pool.query<{ change: string }>(`
      SELECT enrolled_by_change AS change FROM approvers UNION ALL SELECT change_id FROM external_connectors
      UNION ALL SELECT endpoint_id FROM event_endpoints UNION ALL SELECT approved_by_change FROM webhook_rules
      UNION ALL SELECT issued_by_change FROM caller_keys UNION ALL SELECT approved_by_change FROM policy_versions`)
    const standing = new Set(rows.map(({ change }) => change))
    expect(made.filter(({ changeId }) => !standing.has(changeId))).toEqual([])
    expect(await differences()).toEqual([])
  })

  test('what both would put in effect is refused to the second', async () => {
    await asBefore(database.pool, 'registerExternalConnector', {
      ...connector,
      changeId: randomUUID(),
      capability: 'vendor:late',
      allowedParameters: '[]',
      timeoutMs: 1,
      readBack: false,
      at: new Date().toISOString(),
    }).then((written) => expect(written).toBe(0))
    const again = await service.post(
      '/approvers/changes',
      { ...anEnrolment(anApprover('twice')), publicKeyPem: pem },
      { key: maker.key },
    )
    expect(reply(again)).toEqual({
      status: 409,
      body: { code: 'CONFLICT', error: 'This public key is enrolled already, as erik:k1.' },
    })
  })
})
