// The image without an engine: the Dockerfile's own steps in a folder, and the service started from what they leave there.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  lstatSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { BUILT } from '../../src/server/pages/built.ts'
import { npmStart } from '../../bench/npm-start.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aFolderWithPackages } from '../pages.ts'
import { until } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { copied, copyInto, readDockerfile, ROOT, type Instruction } from './dockerfile.ts'

const [packagesStage = [], pagesStage = [], productionStage = [], image = []] = readDockerfile()
const only = (name: string) =>
  image.filter((instruction) => instruction.name === name).map(({ rest }) => rest)

const isCopied = (file: string) =>
  copied(image).some(([from]) => file === from || file.startsWith(`${from}/`))

test('the builder is sent what is copied, but no private key, and nothing else', () => {
  const sources = [...copied(packagesStage), ...copied(pagesStage), ...copied(image)].map(([from]) => from)
  const [first, ...rest] = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .replace(/^#.*\n/gm, '')
    .trim()
    .split('\n')
  expect([first, ...rest.splice(-2)]).toEqual(['*', relative(ROOT, fileURLToPath(BUILT)), '**/*.private.pem'])
  expect(rest.toSorted()).toEqual([...new Set(sources)].map((source) => `!${source}`).toSorted())
})

test('the service runs as a user without rights, gets signals itself and is asked whether it is ready', () => {
  expect(only('USER')).toEqual(['countersign'])
  expect(JSON.parse(only('CMD').join())).toEqual(npmStart)
  expect(only('HEALTHCHECK')).toEqual([expect.stringMatching(/ready/)])
})

describe('the module graph of the service, its threads and its command', () => {
  const files = new Set<string>()
  const packages = new Set<string>()
  const read = new Set<string>()

  beforeAll(() => {
    const programs = ['bench/load.ts', 'bench/floor.ts', 'bench/receiver.ts']
    for (const entry of ['bin/start.js', 'bin/countersign.js', 'workers/thread.ts', ...programs])
      follow(join(ROOT, entry))
  })

  function follow(file: string): void {
    const name = relative(ROOT, file)
    if (files.has(name)) return
    files.add(name)
    if (!/\.[jt]s$/.test(file)) return
    // Types are stripped, and with them imports of types alone.
    const text = readFileSync(file, 'utf8').replace(/^(import|export) type [^;]*?from '.*'$/gm, '')
    for (const [, from = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([@.\w/-]+)'/g))
      if (from.startsWith('.')) follow(resolve(dirname(file), from))
      else if (!from.startsWith('node:')) packages.add(/^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from)
    for (const [, url = ''] of text.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g))
      read.add(relative(ROOT, resolve(dirname(file), url)))
    for (const [, parts = ''] of text.matchAll(/join\(import\.meta\.dirname, ([^)]*)\)/g))
      read.add(
        relative(
          ROOT,
          resolve(dirname(file), ...Array.from(parts.matchAll(/'([^']*)'/g), ([, part = '']) => part)),
        ),
      )
  }

  test('is copied whole, and so is what it reads beside itself', () => {
    expect(files.size).toBeGreaterThan(150)
    expect([...read]).toEqual(expect.arrayContaining(['migrations', 'docs/handbook', 'workers/thread.ts']))
    expect([...files]).toContain('bench/index.ts')
    // The bench names its own checkout by the folder above it, and what is compiled is kept where a folder may be made, which is not in the image.
    const others = ['', '.cache/compile']
    expect([...files, ...read].filter((file) => !others.includes(file) && !isCopied(file))).toEqual([])
  })

  test('needs no package that an install for production leaves out', () => {
    const { packages: locked } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean }>
    }
    expect(packages.size).toBeGreaterThan(8)
    const left = [...packages].filter((name) => (locked[`node_modules/${name}`] ?? { dev: true }).dev)
    // Without it the bench sends the load by itself; pages are measured in a clone; the receiver for Stripe says what it lacks.
    expect(left.toSorted()).toEqual(['autocannon', 'playwright-core', 'stripe'])
  })
})

describe('a container', () => {
  let folder: string
  let app: string
  let database: TestDatabase
  let service: ChildProcess
  let url = ''
  let key = ''
  let env: Record<string, string>

  const countersign = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'bin', 'countersign'), ...args], {
      cwd: app,
      env,
      encoding: 'utf8',
    })
  const get = (path: string) => fetch(url + path, { headers: { Authorization: `Bearer ${key}` } })

  beforeAll(async () => {
    // Outside the checkout, where no package that is missing is found in a folder above.
    folder = mkdtempSync(join(tmpdir(), 'countersign-image-'))
    app = join(folder, 'app')
    for (const made of ['app', 'bin', 'keys']) mkdirSync(join(folder, made))
    symlinkSync(process.execPath, join(folder, 'bin', 'node-24'))
    const path = `${join(folder, 'bin')}:${process.env['PATH']}`
    /** The folder that a stage leaves, starting with the packages. */
    const stage = (instructions: readonly Instruction[]) => {
      const builder = aFolderWithPackages()
      copyInto(builder, [...packagesStage, ...instructions])
      for (const { name, rest } of instructions)
        if (name === 'RUN')
          execFileSync('bash', ['-euc', rest], {
            cwd: builder,
            env: { ...process.env, PATH: path, npm_config_offline: 'true' },
            stdio: 'pipe',
          })
      return builder
    }
    const [production, pages] = [stage(productionStage), stage(pagesStage)]
    copyInto(app, image)
    execFileSync('cp', ['-a', join(production, 'node_modules'), app])
    const built = join('src', 'server', 'pages', 'built')
    execFileSync('cp', ['-a', join(pages, built), join(app, built)])
    symlinkSync(join(app, 'bin', 'countersign.js'), join(folder, 'bin', 'countersign'))

    database = await createDatabase()
    const variables = Array.from(
      only('ENV')
        .join(' ')
        .matchAll(/(\w+)=(\S+)/g),
      ([, name, value]) => [name, value],
    )
    env = {
      ...(Object.fromEntries(variables) as Record<string, string>),
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: database.url,
      SIGNING_KEY_DIR: join(folder, 'keys'),
    }
    expect(countersign('keys', 'generate')).toMatchObject({ status: 0, stderr: '' })
    const issued = countersign('callers', 'issue', '--capability', 'sandbox:echo', 'tester')
    const [raw = '', entry = ''] = issued.stdout.split('\n')
    key = raw
    service = spawn(process.execPath, npmStart.slice(1), {
      cwd: app,
      env: { ...env, SERVICE_API_KEYS: `[${entry}]` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', (chunk: Buffer) => (output += String(chunk)))
    url = await until(() => /"url":"([^"]+)"/.exec(output)?.[1], 'the service to listen')
  }, 240_000)

  afterAll(async () => {
    const exited = once(service, 'exit')
    service.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    await database.drop()
    rmSync(folder, { recursive: true })
  })

  test('holds one binary of each native part, and no more than 130 MB of packages', () => {
    const files = readdirSync(join(app, 'node_modules'), { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => /uws_.*\.node$/.test(file))).toHaveLength(1)
    expect(readdirSync(join(app, 'node_modules', 'sodium-native', 'prebuilds'))).toHaveLength(1)
    const bytes = files.map(
      (file) => lstatSync(join(app, 'node_modules', file), { throwIfNoEntry: false })?.size ?? 0,
    )
    expect(bytes.reduce((a, b) => a + b, 0)).toBeLessThan(130_000_000)
    expect(existsSync(join(app, 'node_modules', 'typescript'))).toBe(false)
  })

  test('has the command on its PATH', () => {
    expect(countersign('--version')).toMatchObject({ status: 0, stdout: `${packageJson.version}\n` })
    expect(countersign('migrate')).toMatchObject({ status: 0, stdout: 'The schema is up to date.\n' })
  })

  test('has the bench, which measures a deployment', () => {
    const load = ['--quick', '--seconds', '0.1', '--connections', '1']
    const bench = countersign('bench', 'read', '--url', url, '--key', key, ...load)
    expect(bench).toMatchObject({ status: 0, stdout: expect.stringContaining('verified offline') as string })
    const why = 'autocannon is not installed here: it is a development dependency'
    expect(bench.stderr).toContain(`bench: ${why}. The bench's own generator sends the load.\n`)
    for (const generator of ['autocannon', 'both'])
      expect(
        countersign('bench', 'read', '--url', url, '--key', key, '--generator', generator),
      ).toMatchObject({ status: 2, stdout: '', stderr: `bench: --generator ${generator}: ${why}\n` })
  })

  test('executes, and serves every page with its assets', async () => {
    const executed = await fetch(`${url}/execute`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(aTransaction()),
    })
    expect([executed.status, await executed.text()]).toEqual([200, expect.stringContaining('"receipts"')])

    const seen = new Set<string>()
    const paths = [
      '/ready',
      '/version',
      '/openapi.yaml',
      '/openapi.json',
      '/api-manifest.json',
      '/documentation',
      '/reference',
      '/handbook',
      '/verifier',
    ]
    for (const path of paths) {
      const page = await get(path)
      expect([path, page.status]).toEqual([path, 200])
      if (!page.headers.get('content-type')?.startsWith('text/html')) continue
      for (const [, link = ''] of (await page.text()).matchAll(/(?:href|src)="(\/[a-z][^"#]*)"/g))
        seen.add(link)
    }
    expect([...seen]).toEqual(expect.arrayContaining(['/reference/reference.js', '/handbook/scaling']))
    for (const link of seen) expect([link, (await get(link)).status]).toEqual([link, 200])
  })

  test('says whether it is healthy', async () => {
    const [, command = '[]'] = /CMD (\[.*\])$/.exec(only('HEALTHCHECK').join()) ?? []
    const [, ...args] = JSON.parse(command) as string[]
    const healthAt = (port: string) => spawnSync(process.execPath, args, { env: { PORT: port } }).status
    // The service may be behind for a moment, after all these pages on a busy machine.
    await until(() => healthAt(new URL(url).port) === 0, 'the service to be healthy')
    expect(healthAt('1')).toBe(1)
  })
})
