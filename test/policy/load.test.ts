import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { DocumentError } from '../../src/core/cel/mistakes.ts'
import { readPolicies } from '../../src/core/policy/load.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aDocument } from './builders.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'policies-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
})

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), content)
}

/** JSON is YAML. */
const aFile = (changes?: Record<string, unknown>) => JSON.stringify(aDocument(changes))

/** The refusal's lines, without the folder. */
function refusal(): string[] {
  try {
    readPolicies(dir)
  } catch (error) {
    if (error instanceof DocumentError) return error.message.replaceAll(`${dir}/`, '').split('\n')
    throw error
  }
  return []
}

test('policies are read by name and version, with the canonical text of their document and its hash', () => {
  write('test/1.0.0/policy.yaml', `# a comment\n${aFile()}`)
  write('test/0.9.0/policy.yaml', aFile({ policyVersion: '0.9.0' }))
  write('test/1.0.0/cases.yaml', 'not read here')
  write('.git/x/policy.yaml', 'no policy')
  write('README.md', 'no folder')
  symlinkSync(join(dir, 'test/1.0.0'), join(dir, 'test/.current'))
  const sources = readPolicies(dir)
  expect(sources.map(({ name, version }) => `${name} ${version}`)).toEqual(['test 0.9.0', 'test 1.0.0'])
  for (const { content, contentHash, document, file } of sources) {
    expect(content.startsWith('{"capabilities":["test:run"],"description":')).toBe(true)
    expect(contentHash).toBe(sha256Hex(content))
    // The text that the database gives back compiles to the same policy.
    expect(compilePolicy(JSON.parse(content), file).document).toEqual(document)
  }
})

describe('a file is refused', () => {
  test.each([
    ['twice the same key', 'a: 1\na: 1', 'line 2, column 1: Map keys must be unique.'],
    ['an alias', 'a: &x [1]\nb: *x', 'The alias *x cannot be used'],
    ['a tag', 'a: !!binary aGk=', 'line 1, column 4: Unresolved tag: tag:yaml.org,2002:binary.'],
    [
      'a custom tag',
      'a: !secret b',
      'line 1, column 4: A text that begins with ! must stand in quotes (!secret is read as a tag).',
    ],
    ['two documents', 'a: 1\n---\nb: 1', 'The file must hold one document'],
    ['a key that is no text', '? [a]\n: b', 'With stringKeys, all keys must be strings'],
    ['a number that JSON has not', 'a: .inf', 'is not a finite number'],
    ['half a surrogate pair', 'a: "\\ud800"', 'holds a lone surrogate'],
    ['a __proto__ key', '__proto__: { a: 1 }', 'a key cannot be signed'],
    ['bytes that are not UTF-8', Uint8Array.of(0x61, 0x3a, 0x20, 0xff), 'Cannot be read: The encoded data'],
    ['more than 256 KiB', `a: ${'x'.repeat(262_144)}`, 'Cannot be read: 262147 bytes are more than 262144.'],
    ['nothing', '', 'the document must be an object.'],
  ])('%s', (_, content, sentence) => {
    write('test/1.0.0/policy.yaml', content)
    expect(refusal()).toHaveLength(1)
    expect(refusal()[0]).toMatch(/^test\/1\.0\.0\/policy\.yaml[,:] /)
    expect(refusal()[0]).toContain(sentence)
  })

  test('a version folder without a policy', () => {
    write('test/1.0.0/policy.yml', aFile())
    expect(refusal()[0]).toMatch(/^test\/1\.0\.0\/policy\.yaml: Cannot be read: ENOENT/)
  })

  test('a folder of policies that is not there', () => {
    expect(() => readPolicies(join(dir, 'missing'))).toThrow(/missing: Cannot be read: ENOENT/)
  })

  test('all mistakes of all files are told at once', () => {
    write('other/1.0.1/policy.yaml', aFile())
    write('test/1.0.0/policy.yaml', aFile({ signals: {} }))
    expect(refusal()).toEqual([
      "other/1.0.1/policy.yaml, line 1, column 2: policyId must be the folder's name, other.",
      "other/1.0.1/policy.yaml, line 1, column 20: policyVersion must be the folder's name, 1.0.1.",
      "test/1.0.0/policy.yaml, line 1, column 170, rule approved: Unknown signal 'approved'.",
    ])
  })
})
