// The Python client (interface §9.5): its own tests, its surface against the route table, and its work with the real service.
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/server/routes/index.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import {
  aHuman,
  anApprovalOf,
  anApprover,
  anEnrolment,
  aSignedApproval,
  aStepUp,
  proposed,
} from '../authority.ts'
import { createDatabase, rowsOf, type TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { PYTHON_CLIENT, pythonPath } from '../python.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const README = readFileSync(join(PYTHON_CLIENT, 'README.md'), 'utf8')
const OLDEST_MINOR = 9

const version = /^Python 3\.(\d+)/.exec(
  spawnSync('python3', ['--version'], { encoding: 'utf8' }).stdout ?? '',
)
const noPython = !(Number(version?.[1]) >= OLDEST_MINOR)

interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

function python(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const options = {
    cwd: PYTHON_CLIENT,
    env: {
      PATH: process.env['PATH'],
      ...pythonPath(PYTHON_CLIENT, join(PYTHON_CLIENT, 'tests')),
      ...env,
    },
  }
  return new Promise((resolve) => {
    execFile('python3', args, options, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    )
  })
}

/** unittest ends with 0 too when it found nothing to run. */
function expectPassed({ status, stderr }: Ran): void {
  expect(status, stderr).toBe(0)
  expect(Number(/^Ran (\d+) tests? in /m.exec(stderr)?.[1] ?? 0), stderr).toBeGreaterThan(5)
}

describe.skipIf(noPython)(`the Python client${noPython ? ' (skipped: no Python 3.9 here)' : ''}`, () => {
  test('passes its own tests', async () => {
    expectPassed(await python(['-m', 'unittest', 'discover', '-s', 'tests']))
  })

  // A delivery is the provider's to send; tiles and entries are for tools that audit the whole log.
  const OF_LOG = [
    '/.well-known/countersign-log',
    '/log/checkpoint',
    '/log/consistency',
    '/log/proofs/{kind}/{id}',
  ]
  test('has a method for every route of the table but the webhooks and those of auditors, and none for another', async () => {
    const program = [
      'import inspect, json, re, countersign',
      'texts = [inspect.getdoc(method) or "" for _, method in inspect.getmembers(countersign.Client, inspect.isfunction)]',
      'print(json.dumps([found[0] for found in (re.match(r"(GET|POST) /[^\\s:]*", text) for text in texts) if found]))',
    ]
    const { stdout, stderr } = await python(['-c', program.join('\n')])
    expect(stderr).toBe('')
    // A route may have a method for each of its bodies.
    expect([...new Set(JSON.parse(stdout) as string[])].toSorted()).toEqual(
      routes
        .filter(
          ({ mounted, path, tag }) => mounted === undefined || tag === 'Catalogue' || OF_LOG.includes(path),
        )
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    )
  })

  describe.each(['ed25519', 'ml-dsa-65', 'ed25519,ml-dsa-65'])(
    'with a service that signs by %s',
    (algorithms) => {
      const auditor = aCaller('auditor', { readAll: true })
      let database: TestDatabase
      let service: TestService

      beforeAll(async () => {
        database = await createDatabase()
        const env = { RECEIPT_ALGORITHMS: algorithms }
        service = await startService({ databaseUrl: database.url, callers: [auditor.entry], env })
      })

      afterAll(async () => {
        expect(await service.stop()).toBe(0)
        await database.drop()
      })

      test('runs the snippet of its README twice: the second time it reads what the first has done', async () => {
        const [, snippet = ''] = /^```python\n([^]*?)^```$/m.exec(README) ?? []
        const program = snippet.replace('http://127.0.0.1:3000', service.url)
        expect(program).toContain(service.url)
        for (const _ of ['executed', 'read']) {
          const { status, stdout, stderr } = await python(['-c', program], {
            COUNTERSIGN_API_KEY: service.key,
          })
          expect([status, stderr]).toEqual([0, ''])
          const lines = stdout.trimEnd().split('\n')
          expect(lines.length).toBeGreaterThan(3)
          expect(lines.filter((line) => !line.endsWith(' ok'))).toEqual([])
        }
        expect(await rowsOf(database)).toMatchObject({ trust_records: 1 })
      })

      test('executes, reads and verifies offline', async () => {
        const ran = await python([join(import.meta.dirname, 'python_service.py')], {
          COUNTERSIGN_URL: service.url,
          COUNTERSIGN_API_KEY: service.key,
          COUNTERSIGN_AUDITOR_KEY: auditor.key,
          RECEIPT_ALGORITHMS: algorithms,
        })
        expectPassed(ran)
      })
    },
  )

  describe('with humans', () => {
    const maker = aHuman('maker')
    /** This human is the approver too. */
    const checker = aHuman('checker', { approverId: 'alice' })
    const alice = anApprover('alice')
    let database: TestDatabase
    let service: TestService

    beforeAll(async () => {
      database = await createDatabase()
      service = await startService({ databaseUrl: database.url, callers: [maker.entry, checker.entry] })
    })

    afterAll(async () => {
      expect(await service.stop()).toBe(0)
      await database.drop()
    })

    /** A change that nobody has resolved, and the checker's step-up for it. */
    async function aChange(path: string, body: object, action: 'approve' | 'reject' = 'approve') {
      const change = await proposed(service, maker, path, body)
      return { change, stepUp: aStepUp(checker, change, action) }
    }

    function aPolicyChange(name: string, action?: 'reject') {
      const body = { reason: 'test', proposedContent: aPolicy(name) }
      return aChange(`/policies/${name}/1.0.0/pending-changes`, body, action)
    }

    async function executed(): Promise<string> {
      const { status, text, body } = await service.post('/execute', aTransaction())
      expect(status, text).toBe(200)
      return String(body.businessTransactionId)
    }

    /** Signs the request that the program makes, which Python's standard library cannot. */
    async function approveWhenAsked(target: string): Promise<void> {
      const asked = await until(async () => {
        const { body } = await service.get('/approval-requests?status=PENDING', { key: checker.key })
        const { requests } = body as { requests: ApprovalRequest[] }
        return requests.find(({ request }) => request.target === target)
      }, 'the program to ask')
      const delivered = await service.post('/approvals', anApprovalOf(alice, asked))
      expect(delivered.status, delivered.text).toBe(201)
    }

    /** Prepares what Python's standard library cannot sign, and what no client can bring about. */
    async function prepare(): Promise<object> {
      const [kept, lost] = [await executed(), await executed()]
      await putInDoubt(database, kept, 'kept')
      await putInDoubt(database, lost, 'lost')
      return {
        policy: await aPolicyChange('approved-by-two'),
        rejected: await aPolicyChange('rejected', 'reject'),
        approver: await aChange('/approvers/changes', anEnrolment(alice)),
        'external-connector': await aChange('/external-connectors/changes', {
          action: 'register',
          capability: 'vendor:pay',
          endpointUrl: 'https://1.1.1.1/releases',
          policy: 'vendor-payment',
          allowedParameters: ['amount'],
          reason: 'test',
        }),
        'webhook-rules': await aChange('/webhook-rules/changes', {
          provider: 'acme',
          rules: [{ id: 'paid', when: 'payload.paid == true', transaction: 'payload.id', says: 'executed' }],
          reason: 'test',
        }),
        'event-endpoint': await aChange('/event-endpoints/changes', {
          action: 'register',
          url: 'http://127.0.0.1:9/events',
          types: ['change.resolved'],
          reason: 'test',
        }),
        'caller-key': await aChange('/caller-keys/changes', {
          action: 'issue',
          callerId: 'newcomer',
          keyHash: sha256Hex('a key that its holder made'),
          allowedCapabilities: ['sandbox:echo'],
          reason: 'test',
        }),
        'approver-group': await aChange('/approver-groups/changes', {
          action: 'set',
          group: 'managers',
          members: ['alice'],
          reason: 'test',
        }),
        'stand-in': await aChange('/stand-ins/changes', {
          action: 'set',
          for: 'alice',
          by: 'bob',
          from: '2027-01-01T00:00:00.000Z',
          until: '2027-01-15T00:00:00.000Z',
          reason: 'test',
        }),
        approval: aSignedApproval(alice),
        transaction: aTransaction({ policy: { name: 'approved-by-two' }, signals: { amount: undefined } }),
        loaded: aPolicy('proposed-only'),
        enrolment: anEnrolment(anApprover('bob')),
        inDoubt: [kept, lost],
      }
    }

    test('proposes, approves and rejects, asks for and delivers approvals, asks the sandbox and closes intents', async () => {
      const running = python([join(import.meta.dirname, 'python_authority.py')], {
        COUNTERSIGN_URL: service.url,
        COUNTERSIGN_API_KEY: service.key,
        COUNTERSIGN_MAKER_KEY: maker.key,
        COUNTERSIGN_CHECKER_KEY: checker.key,
        COUNTERSIGN_PREPARED: JSON.stringify(await prepare()),
      })
      await approveWhenAsked('approved-for-python')
      expectPassed(await running)
    })
  })
})

/** Approves what a human has approved. */
function aPolicy(policyId: string) {
  return {
    policyId,
    policyVersion: '1.0.0',
    schemaVersion: '1.0.0',
    description: 'Made by a test.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean' },
    verify: { approved: { by: 'approval', quorum: 1 } },
    rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
  }
}
