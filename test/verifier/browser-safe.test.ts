// The verifier runs in a browser as it stands: what it imports, and what imports that, is there too.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const CORE = join(import.meta.dirname, '..', '..', 'src', 'core')

/** Every file of ours that the verifier is made of, and every package that they import. */
function reached(file: string, files = new Set<string>(), packages = new Set<string>()) {
  if (files.has(file)) return { files, packages }
  files.add(file)
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/ from '([^']+)'/g)) {
    if (specifier.startsWith('.')) reached(join(dirname(file), specifier), files, packages)
    else packages.add(specifier.split('/').slice(0, 2).join('/'))
  }
  return { files, packages }
}

const { files, packages } = reached(join(CORE, 'verifier', 'index.ts'))
const formats = ['note', 'checkpoint', 'cosignature', 'policy', 'proof']
const log = reached(join(CORE, 'verifier', 'note-crypto.ts'))
for (const name of formats) reached(join(CORE, 'log', `${name}.ts`), log.files, log.packages)

test('it imports nothing of Node, and of the server what reads and writes JSON, approval requests, Merkle trees, the formats of the log, the assertions of passkeys and the states of an intent', () => {
  const outside = Array.from(files, (file) => relative(CORE, file)).filter(
    (file) => !file.startsWith('verifier'),
  )
  expect(files.size).toBeGreaterThan(10)
  expect(outside.toSorted()).toEqual([
    'approval-requests/action-code.ts',
    'approval-requests/request-hash.ts',
    'approval-requests/request-problem.ts',
    'approval-requests/statuses.ts',
    'bytes.ts',
    'error-text.ts',
    'intents/states.ts',
    'json/canonical.ts',
    'json/text.ts',
    'log/artifacts.ts',
    'log/checkpoint.ts',
    'log/cosignature.ts',
    'log/entry.ts',
    'log/note.ts',
    'log/origin.ts',
    'log/policy.ts',
    'log/proof.ts',
    'merkle/batch-head.ts',
    'merkle/tree.ts',
    'webauthn/assertion.ts',
  ])
  expect(Array.from(packages).toSorted()).toEqual(['@noble/curves', '@noble/hashes', '@noble/post-quantum'])
})

test('the formats of the evidence log import nothing of Node either', () => {
  expect(log.files.size).toBeGreaterThan(formats.length)
  expect(Array.from(log.packages).toSorted()).toEqual([
    '@noble/curves',
    '@noble/hashes',
    '@noble/post-quantum',
  ])
})

test('it uses no global of Node', () => {
  for (const file of [...files, ...log.files]) {
    const code = readFileSync(file, 'utf8').replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, '')
    expect(code.match(/\b(Buffer|process|require|global)\b/), file).toBeNull()
  }
})
