// The pages that git does not hold: they are what their sources make, `npm ci` makes them by `prepare`, and a packed file brings them.
import { execFileSync, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { buildPages, readPages, savedAs } from '../tools/pages.ts'
import { copied, readDockerfile } from './deploy/dockerfile.ts'
import { aCheckoutWithoutPages } from './pages.ts'

const BUILT = join('src', 'server', 'pages', 'built')

test('the built files are what their sources make: the same bytes each time', async () => {
  const built = readPages()
  expect(Object.keys(built).length).toBeGreaterThan(6)
  const made = await buildPages()
  expect(Object.keys(built).toSorted(), 'npm run pages').toEqual(Object.keys(made).toSorted())
  for (const [path, text] of Object.entries(made))
    expect(built[path] === text, `${path}: npm run pages`).toBe(true)
})

test('the report of verify has the colours of the pages', () => {
  const [report, colors] = ['src/cli/verify/report.ts', 'src/server/pages/colors.css'].map((path) =>
    readFileSync(path, 'utf8').match(/--[a-z-]+: light-dark\(.*\);/g),
  )
  expect(report?.length).toBeGreaterThan(5)
  expect(colors).toEqual(expect.arrayContaining(report ?? []))
})

describe('npm run prepare', () => {
  test('makes the pages and prints the hashes of those that people save, as sha256sum does', () => {
    const folder = aCheckoutWithoutPages('tools')
    const built = readPages()
    const lines = Object.entries(savedAs).map(
      ([path, name]) => `${hash('sha256', built[path] ?? '')}  ${name}\n`,
    )
    expect(prepared(folder)).toBe(lines.join(''))
    const there = execFileSync('find', ['.', '-type', 'f', '-perm', '-044'], {
      cwd: join(folder, BUILT),
      encoding: 'utf8',
    })
    expect(there.trim().split('\n').toSorted()).toEqual(
      Object.keys(built)
        .map((path) => `./${path}`)
        .toSorted(),
    )
  })

  test('does nothing without the development dependencies, and without the tools', () => {
    const bare = aCheckoutWithoutPages('tools')
    rmSync(join(bare, 'node_modules', 'node'), { recursive: true })
    const packed = aCheckoutWithoutPages()
    for (const folder of [bare, packed]) {
      expect(prepared(folder)).toBe('')
      expect(existsSync(join(folder, BUILT))).toBe(false)
    }
  })
})

describe('npm pack', () => {
  test('holds what the image does, and the pages', () => {
    const [, , , image = []] = readDockerfile()
    const sources = copied(image).map(([from]) => from)
    expect(packageJson.files.toSorted()).toEqual(
      sources.filter((name) => !['package.json', 'LICENSE'].includes(name)).toSorted(),
    )
    const folder = aCheckoutWithoutPages('tools')
    const { status, stdout } = pack(folder)
    expect(status).toBe(0)
    const [{ filename = '' } = {}] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { filename?: string }[]
    const listed = execFileSync('tar', ['-tzf', join(folder, filename)], { encoding: 'utf8' }).split('\n')
    expect(listed).toEqual(
      expect.arrayContaining(Object.keys(readPages()).map((path) => `package/${BUILT}/${path}`)),
    )
  })

  test('fails where the pages cannot be made', () => {
    const folder = aCheckoutWithoutPages()
    expect(pack(folder).status).not.toBe(0)
    expect(readdirSync(folder).filter((name) => name.endsWith('.tgz'))).toEqual([])
  })
})

/** @returns what it prints */
function prepared(folder: string): string {
  const run = spawnSync('npm', ['run', 'prepare', '--silent'], { cwd: folder, encoding: 'utf8' })
  expect([run.status, run.stderr]).toEqual([0, ''])
  return run.stdout
}

function pack(folder: string) {
  return spawnSync('npm', ['pack', '--json', '--silent'], { cwd: folder, encoding: 'utf8' })
}
