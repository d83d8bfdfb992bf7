// The Python client (interface §9.5): its own tests, its surface against the route table, and its work with the real service.
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/routes/index.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aCaller, startService, type TestService } from '../service.ts'

const PACKAGE = join(import.meta.dirname, '..', '..', 'clients', 'python')
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

/** Without bytecode: nothing of a run is left in the tree. */
function python(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const options = {
    cwd: PACKAGE,
    env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: PACKAGE, ...env },
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
  test('passes its own tests', { timeout: 120_000 }, async () => {
    expectPassed(await python(['-m', 'unittest', 'discover', '-s', 'tests']))
  })

  test('has a method for every route of the table, and none for another', async () => {
    const program = [
      'import inspect, json, re, countersign',
      'texts = [inspect.getdoc(method) or "" for _, method in inspect.getmembers(countersign.Client, inspect.isfunction)]',
      'print(json.dumps([found[0] for found in (re.match(r"(GET|POST) /[^\\s:]*", text) for text in texts) if found]))',
    ]
    const { stdout, stderr } = await python(['-c', program.join('\n')])
    expect(stderr).toBe('')
    expect((JSON.parse(stdout) as string[]).toSorted()).toEqual(
      routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
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

      test('executes, reads and verifies offline', { timeout: 120_000 }, async () => {
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
})
