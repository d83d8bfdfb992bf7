// The commands that the documents show: what they leave in a clone, and what they need there.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** All but the two that are agreed on elsewhere and stand here as they are. */
const documents = globSync('{*.md,{docs,clients,examples,bench,deploy,test}/**/*.md}', {
  cwd: ROOT,
  exclude: ['**/node_modules/**', 'docs/interface.md', 'docs/decisions.md'],
}).map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }))

test('the documents are found', () => {
  const names = documents.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/abuse.md', 'docs/handbook/governing.md']),
  )
})

interface Written {
  readonly document: string
  readonly path: string
}

const written = documents.flatMap(({ name, text }) =>
  writtenBy(text).map((path): Written => ({ document: name, path })),
)

/** Paths, relative to the clone, that the blocks and code spans of a document write. */
function writtenBy(text: string): string[] {
  const codes = Array.from(text.matchAll(/^```(?:sh|console|text)\n([^]*?)^```$|`([^`\n]+)`/gm))
  // A folder that the prose says to go into is the one for the rest of the document.
  let folder = ''
  return codes.flatMap(([, block, span = '']) => {
    if (block !== undefined) return writtenIn(block, folder)
    folder = /\bcd (mine\S*)$/.exec(span)?.[1] ?? folder
    return writtenIn(span, folder)
  })
}

function writtenIn(code: string, folder: string): string[] {
  // A redirection in quotes is none; a path in double quotes is one.
  const shell = code.replaceAll(/'[^']*'/g, "''").replaceAll('"', '')
  const named = [
    ...shell.matchAll(/(?<![<\w=-])>>? ?([^\s&|;)<>]+)/g),
    ...shell.matchAll(
      / (?:--output|--dir|--journal|--html|--markdown|--profile|--file|--pgdata) ([^\s;)]+)/g,
    ),
    ...shell.matchAll(/\bcurl\b[^|;>\n]* -[oD] ([^\s;)]+)/g),
    ...shell.matchAll(/ bench .*--json ([^\s;)]+)/g),
    ...shell.matchAll(/^\s*(?:cp|mv|touch)(?: -\w+)* (?:\S+ )?([^\s;&)]+)/gm),
  ]
  return (
    named
      .map(([, path = '']) => path.replaceAll('$human', 'alice').replaceAll('$n', '1'))
      // A rule of a policy compares by `>` and `>=` with numbers.
      .filter((path) => !/^[-/$…<'=\d]/.test(path))
      .map((path) => posix.join(folder, path))
  )
}

const isClone = existsSync(join(ROOT, '.git'))

function isIgnored(path: string): boolean {
  const { status } = spawnSync('git', ['check-ignore', '--quiet', '--no-index', path], { cwd: ROOT })
  expect(status, `git check-ignore ${path}`).toBeOneOf([0, 1])
  return status === 0
}

describe.skipIf(!isClone)('what they save in a clone', () => {
  test('is found in the documents', () => {
    const paths = written.map(({ path }) => path)
    for (const path of [
      'mine/keys.json',
      'mine/alice',
      'mine/alice/caller.txt',
      'mine/receiver.journal',
      'mine/page-1.json',
    ])
      expect(paths).toContain(path)
    expect(paths.length).toBeGreaterThan(40)
  })

  test('is ignored by git, and with that by prettier', () => {
    expect(written.filter(({ path }) => !isIgnored(path))).toEqual([])
    expect(isIgnored('keys.json')).toBe(false)
  })

  test('a private key is ignored wherever it lies', () => {
    for (const path of [
      'step-up.private.pem',
      'alice/step-up.private.pem',
      'docs/20261121T010000Z-ed25519.private.pem',
    ])
      expect([path, isIgnored(path)]).toEqual([path, true])
  })
})

const matches = (pattern: RegExp) =>
  documents.flatMap(({ name, text }) => Array.from(text.matchAll(pattern), ([found]) => `${name}: ${found}`))

test('a TypeScript file is run by the Node of the project, whatever Node the machine has', () => {
  expect(matches(/\bnpx node [\w./-]+\.ts\b/g).length).toBeGreaterThan(0)
  expect(matches(/(?<!npx )\bnode (?:--\S+ )*[\w./-]+\.ts\b/g)).toEqual([])
})

test('nobody is told to run or install what anyone could register under a name', () => {
  // In a checkout: the pinned Node, and commands of its dependencies, which are never fetched.
  expect(matches(/\bnpx (?!node\b|--no-install )[^\s`]+/g)).toEqual([])
  expect(matches(/\b(?:npm (?:install|i|exec)|pip3? install) (?!<path of the clone>|\.\/)[^\s`]+/g)).toEqual(
    [],
  )
})
