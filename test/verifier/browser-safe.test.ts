// The verifier runs in a browser as it stands: what it imports, and what imports that, is there too.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const FORMATS = join(import.meta.dirname, '..', '..', 'src', 'formats')

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

const { files, packages } = reached(join(FORMATS, 'verifier', 'index.ts'))
const formats = ['note', 'checkpoint', 'cosignature', 'policy', 'proof']
const log = reached(join(FORMATS, 'verifier', 'note-crypto.ts'))
for (const name of formats) reached(join(FORMATS, 'log', `${name}.ts`), log.files, log.packages)

test('it imports nothing of Node, no schema library and no other room', () => {
  expect(files.size).toBeGreaterThan(30)
  const outside = Array.from(files, (file) => relative(FORMATS, file)).filter((file) => file.startsWith('..'))
  expect(outside).toEqual([])
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
