// The published vectors (test/vectors/countersign): through the offline verifier, and through the Python package beside it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Unusable, verifyEvidence } from '../src/verifier/index.ts'
import type { Case } from './vectors/case.ts'
import { folder, vectorFiles } from './vectors/generate.ts'

const ARTIFACTS = [
  'trust-records',
  'receipts',
  'refusal-records',
  'audit-events',
  'governance-changes',
  'intent-transitions',
] as const
const KEY_FILES = ['keys.json', 'approver-keys.json']
const KEY_SET = KEY_FILES.map((name) => readFileSync(join(folder, name), 'utf8'))
const published = ARTIFACTS.map((name) => ({ name, cases: readCases(`${name}.json`) }))
const all = published.flatMap(({ cases }) => cases)

function readCases(file: string): Case[] {
  return (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { cases: Case[] }).cases
}

function textOf(given: Case): string {
  return 'text' in given ? given.text : JSON.stringify(given.evidence)
}

/** What an implementation says of a case; `unusable` in place of a verdict. */
interface Verdict {
  readonly artifact: string
  readonly valid: boolean
  readonly failing: readonly string[]
}

function expected({ artifact, valid, failing, unusable }: Case): Verdict | 'unusable' {
  return unusable === true ? 'unusable' : { artifact, valid, failing: failing.toSorted() }
}

function verdict(text: string): Verdict | 'unusable' {
  try {
    const { artifact, valid, checks } = verifyEvidence(text, KEY_SET)
    const failing = checks.filter(({ problem }) => problem !== undefined).map(({ name }) => name)
    return { artifact, valid, failing: failing.toSorted() }
  } catch (error) {
    if (error instanceof Unusable) return 'unusable'
    throw error
  }
}

test('the files are what their generator makes, byte for byte', async () => {
  const files = await vectorFiles()
  expect(Object.keys(files)).toEqual([...KEY_FILES, ...ARTIFACTS.map((name) => `${name}.json`)])
  for (const [name, text] of Object.entries(files))
    expect(readFileSync(join(folder, name), 'utf8') === text, `${name}: run npm run vectors`).toBe(true)
  // 10 s alone: most of it is prettier's, for 6 MB of JSON.
})

test('every case has its own id, and fails a check exactly where it is not valid', () => {
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  for (const { id, valid, failing, unusable } of all)
    expect(valid, id).toBe(failing.length === 0 && unusable === undefined)
})

function failingAlone(cases: readonly Case[]): Set<string> {
  return new Set(cases.flatMap(({ failing }) => (failing.length === 1 ? failing : [])))
}

test('every check of every artifact fails alone in some case', () => {
  for (const { name, cases } of published) {
    const [valid] = cases.filter((one) => one.valid)
    if (valid === undefined) throw new Error(`no valid case in ${name}`)
    const { checks } = verifyEvidence(textOf(valid), KEY_SET)
    expect([...failingAlone(cases)].toSorted()).toEqual(checks.map((check) => check.name).toSorted())
  }
})

describe.each(published)('$name', ({ cases }) => {
  test.each(cases)('$id: $what', (given) => {
    expect(verdict(textOf(given))).toEqual(expected(given))
  })
})

// One process for all: each text as a line of JSON in, each verdict as one out.
const PYTHON = `
import json, sys
from countersign.canonical import NotCanonical, parse
from countersign.key_set import read_key_set
from countersign.verifier import Unreadable, check_evidence
key_set, texts = json.load(sys.stdin)
keys = read_key_set([parse(text.encode()) for text in key_set])
artifacts = {"Execution Trust Record": "trust-record", "Receipt": "receipt", "Refusal Record": "refusal-record", "audit event": "audit-event", "governance change": "governance-change", "intent transition": "intent-transition"}
for text in texts:
    try:
        kind, checks = check_evidence(parse(text.encode()), keys)
        failing = sorted(check.name for check in checks if check.problem is not None)
        verdict = {"artifact": artifacts.get(kind, kind), "valid": not failing, "failing": failing}
    except (NotCanonical, Unreadable):
        verdict = "unusable"
    print(json.dumps(verdict))
`
const pythonPackage = join(import.meta.dirname, '..', 'clients', 'python')

const noPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))']).status !== 0

describe.skipIf(noPython)(`the Python package${noPython ? ' (skipped: no Python 3.8 here)' : ''}`, () => {
  test('says of every case what is published of it', () => {
    const { stdout, stderr, status } = spawnSync('python3', ['-c', PYTHON], {
      input: JSON.stringify([KEY_SET, all.map(textOf)]),
      encoding: 'utf8',
      env: { ...process.env, PYTHONPATH: pythonPackage, PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const verdicts = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Verdict | 'unusable')
    expect(verdicts).toHaveLength(all.length)
    const differing = all.flatMap((given, i) => {
      const [is, should] = [JSON.stringify(verdicts[i]), JSON.stringify(expected(given))]
      return is === should ? [] : [`${given.id}: ${is}, and not ${should}`]
    })
    expect(differing).toEqual([])
    // 5 s alone; its big-integer arithmetic has no other speed on a machine that is busy.
  })

  test.each([
    ['valid evidence', 0, (one: Case) => one.valid],
    ['invalid evidence', 1, (one: Case) => !one.valid && one.unusable === undefined],
    ['what is no evidence', 2, (one: Case) => one.unusable === true],
  ])('its command answers %s by exit status %i', (_, status, is) => {
    const given = all.find(is)
    if (given === undefined) throw new Error('no such case')
    const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'))
    const file = join(scratch, 'evidence.json')
    writeFileSync(file, textOf(given))
    const keySet = KEY_FILES.flatMap((name) => ['--jwks', join(folder, name)])
    const args = ['-m', 'countersign', 'verify', file, ...keySet]
    const env = { ...process.env, PYTHONPATH: pythonPackage, PYTHONDONTWRITEBYTECODE: '1' }
    expect(spawnSync('python3', args, { env }).status).toBe(status)
    rmSync(scratch, { recursive: true })
  })
})
