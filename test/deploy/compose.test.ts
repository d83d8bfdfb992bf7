// compose.yaml and the commands that the handbook gives for it, as far as they go without an engine: they are run as pasted, with a
// `docker` that does what the file says on this machine.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { Environment, readConfig } from '../../src/core/config/config.ts'
import { createDatabase } from '../database.ts'
import { aFolder } from '../embedded/drive.ts'
import { blocks } from '../handbook.ts'
import { startService } from '../service.ts'
import { readDockerfile, ROOT } from './dockerfile.ts'

interface Service {
  readonly environment: Readonly<Record<string, string>>
  readonly env_file?: string
  readonly entrypoint?: string[]
  readonly volumes?: string[]
  readonly depends_on?: object
  readonly stop_grace_period?: string
}
interface Compose {
  readonly services: Readonly<Record<'countersign' | 'setup' | 'database', Service>>
  readonly secrets: Readonly<Record<string, { file: string }>>
  readonly volumes: object
}

const { services, secrets, volumes } = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8')) as Compose
const { countersign, setup, database } = services
const script = blocks('operating.md', 'sh').find((block) => block.startsWith('umask 077\n')) ?? ''

test('sets variables that the service reads, and no secret', () => {
  for (const { environment } of [countersign, setup])
    expect(Object.keys(Environment.properties)).toEqual(expect.arrayContaining(Object.keys(environment)))
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')
  const secretFiles = [
    countersign.env_file,
    ...Object.values(secrets).map(({ file }) => file.replace('./', '')),
  ]
  expect(secretFiles).toEqual(['countersign.env', 'database-password'])
  expect(ignored).toEqual(expect.arrayContaining(secretFiles))
  expect(Object.keys(database.environment)).not.toContain('POSTGRES_PASSWORD')
})

test.each(['countersign', 'setup'] as const)('%s cannot write to its image nor gain a right', (name) => {
  expect(services[name]).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  })
})

test('keys and data are kept in volumes that the image lets its user write to, and the service only reads the keys', () => {
  const { SIGNING_KEY_DIR } = setup.environment
  expect([countersign.volumes, setup.volumes]).toEqual([['keys:/keys:ro', 'data:/data'], ['keys:/keys']])
  expect([SIGNING_KEY_DIR, countersign.environment['SIGNING_KEY_DIR']]).toEqual(['/keys', '/keys'])
  expect(Object.keys(volumes)).toEqual(expect.arrayContaining(['keys', 'data', 'database']))
  const made = readDockerfile()
    .at(-1)
    ?.find(({ rest }) => rest.includes('install -d -o countersign'))
  expect(made?.rest).toMatch(/install -d .* \/data \/keys( |$)/)
})

test('a stop is not cut short, and a start waits for the database', () => {
  const seconds = Number(/^(\d+)s$/.exec(countersign.stop_grace_period ?? '')?.[1])
  // The drain; the webhook jobs and the audit that are waited for besides; a second for the rest.
  expect(seconds * 1000).toBeGreaterThan(readConfig({}).shutdownTimeoutMs + 5_000 + 2_000 + 1_000)
  expect(countersign.depends_on).toEqual({ database: { condition: 'service_healthy' } })
})

test("the handbook's commands make what the service then starts with, in files that only their owner can read", async () => {
  const folder = aFolder()
  const at = (name: string) => join(folder, name)
  mkdirSync(at('bin'))
  expect(setup.entrypoint).toEqual(['countersign'])
  writeFileSync(
    at('bin/docker'),
    `#!/bin/bash
# Older ones want it for every service, whichever they are asked for: https://github.com/docker/compose/issues/8713
[[ -e countersign.env ]] || { echo 'env file not found' >&2; exit 14; }
case "$*" in
  'compose build') ;;
  'compose run --rm setup '*) shift 4 ;;&
  'compose run --rm -T setup '*) shift 5 ;;&
  'compose run '*) exec env -i SIGNING_KEY_DIR='${at('keys')}' '${process.execPath}' '${join(ROOT, 'src', 'cli', 'index.ts')}' "$@" ;;
  'compose up --detach --wait') touch '${at('up')}' ;;
  *) echo "unexpected: $*" >&2; exit 64 ;;
esac
`,
  )
  chmodSync(at('bin/docker'), 0o755)
  const env = { PATH: `${at('bin')}:${process.env['PATH']}` }
  const printed = execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env,
    encoding: 'utf8',
    // No socket: bash would take itself for a remote shell, and read what those read.
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [key = ''] = /^csk_.*/m.exec(printed) ?? []
  expect([key, existsSync(at('up'))]).toEqual([expect.stringMatching(/^csk_/), true])
  for (const name of ['countersign.env', 'database-password'])
    expect(statSync(at(name)).mode & 0o77, name).toBe(0)

  const given = Object.fromEntries(
    Array.from(
      readFileSync(at('countersign.env'), 'utf8').matchAll(/^(\w+)='?(.*?)'?$/gm),
      ([, name, value]) => [name, value],
    ),
  ) as Record<string, string>
  const password = readFileSync(at('database-password'), 'utf8').trim()
  const { POSTGRES_USER, POSTGRES_DB } = database.environment
  expect(given['DATABASE_URL']).toBe(`postgres://${POSTGRES_USER}:${password}@database/${POSTGRES_DB}`)

  const own = await createDatabase('template0')
  const service = await startService({
    databaseUrl: own.url,
    signingKeyDir: at('keys'),
    env: { ...countersign.environment, ...given, DATABASE_URL: own.url, SIGNING_KEY_DIR: at('keys') },
  })
  expect(await service.get('/callers/me', { key })).toMatchObject({
    status: 200,
    body: { callerId: 'billing-bot' },
  })
  expect(await service.get('/ready')).toMatchObject({ status: 200 })
  expect(await service.stop()).toBe(0)
  await own.drop()
})
