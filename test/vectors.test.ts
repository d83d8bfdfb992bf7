// The published vectors (test/vectors/countersign): one table for the TypeScript and the Python verifier.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { verifyCommand } from '../src/cli/verify.ts'
import { readTrusted, verifyEvidence } from '../src/formats/verifier/index.ts'
import { reportsIn } from '../src/formats/verifier/many.ts'
import { exitCodeOf, openSummary, summaryLines } from '../src/formats/verifier/summary.ts'
import { noPython, pythonAnswers, pythonEnv, typescriptAnswers } from './vectors/answers.ts'
import type { Case } from './vectors/case.ts'
import { vectorFiles, vectorText } from './vectors/generate.ts'
import { folder, readCases } from './vectors/published.ts'
import {
  all,
  ARTIFACTS,
  askedWith,
  differing,
  files,
  KEY_FILES,
  KEY_SET,
  keySets,
  LOG,
  OTHERS,
  published,
  summaries,
  textOf,
} from './vectors/table.ts'

const SMALL_FILE_CHARACTERS = 100_000
const asked = askedWith((log) => log)

test('the files are what their generator makes: the same values in the same order, and the small ones byte for byte', async () => {
  const made = vectorFiles()
  expect(Object.keys(made)).toEqual([
    ...KEY_FILES,
    'log.json',
    ...[...ARTIFACTS, ...OTHERS].map((name) => `${name}.json`),
  ])
  let formatted = 0
  for (const [name, content] of Object.entries(made)) {
    const text = readFileSync(join(folder, name), 'utf8')
    const read =
      'cases' in content ? { cases: readCases(name.replace('.json', ''), 1) } : (JSON.parse(text) as object)
    const isSame = JSON.stringify(read) === JSON.stringify(content)
    expect(isSame, `${name}: run npm run vectors`).toBe(true)
    // To format all of them takes seconds.
    if (text.length > SMALL_FILE_CHARACTERS) continue
    expect(text === (await vectorText(content)), `${name}: run npm run vectors`).toBe(true)
    formatted++
  }
  expect(formatted).toBeGreaterThan(2)
})

test('every case has its own id, and fails a check exactly where it is not valid', () => {
  const ids = [...all, ...files, ...keySets].map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { id, valid, failing, unchecked = [], unusable } of all)
    expect(valid, id).toBe(failing.length === 0 && unchecked.length === 0 && unusable === undefined)
})

// proves abuse: An export that was cut, at any line
// proves abuse: A line of garbage, of another
test.each(summaries)('$id: the summary is that of the table', ({ sources, summary, lines, exitCode }) => {
  const summing = openSummary()
  const trusted = readTrusted(KEY_SET, { log: LOG })
  for (const source of sources) for (const _ of reportsIn(source, trusted, summing));
  const said = summing.summary()
  expect(said).toEqual(summary)
  expect(summaryLines(said)).toEqual(lines)
  expect(exitCodeOf(said)).toBe(exitCode)
})

// proves abuse: An export that was cut, at any line
test('the command, which reads files piece by piece and on threads, gives the summaries of the table', async () => {
  const base = mkdtempSync(join(tmpdir(), 'countersign-summaries-'))
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    for (const [n, { id, sources, summary, exitCode }] of summaries.entries()) {
      const at = join(base, `${n}`)
      mkdirSync(at)
      for (const { name, text } of sources) writeFileSync(join(at, name), text)
      printed.mockClear()
      const status = await verifyCommand(
        {
          files: sources.map(({ name }) => join(at, name)),
          jwks: KEY_FILES.map((name) => join(folder, name)),
          log: join(folder, 'log.json'),
          json: true,
          quiet: true,
          report: undefined,
        },
        new URL('../src/cli/verify/thread.ts', import.meta.url),
      )
      const text = printed.mock.calls.map(([chunk]) => String(chunk)).join('')
      const { summary: said } = JSON.parse(text.replaceAll(`${at}/`, '')) as { summary: object }
      expect({ id, status, said }).toEqual({ id, status: exitCode, said: summary })
    }
  } finally {
    printed.mockRestore()
    rmSync(base, { recursive: true })
  }
})

test('there are cases of every outcome', () => {
  const verdicts = files.flatMap((one) => one.verdicts)
  expect(new Set(files.map(({ exitCode }) => exitCode))).toEqual(new Set([0, 1, 2]))
  expect(new Set(verdicts)).toEqual(new Set(['valid', 'invalid', 'unchecked']))
  expect(keySets.filter(({ keyIds }) => keyIds === undefined).length).toBeGreaterThan(57)
  expect(keySets.filter(({ keyIds }) => keyIds !== undefined).length).toBeGreaterThan(20)
  for (const { name, cases } of published)
    expect(
      cases.some(({ unchecked = [] }) => unchecked.length > 0),
      name,
    ).toBe(true)
})

function failingAlone(cases: readonly Case[]): Set<string> {
  const only = cases.flatMap(({ failing, unchecked = [] }) =>
    failing.length === 0 ? [unchecked] : [failing],
  )
  return new Set(only.flatMap((names) => (names.length === 1 ? names : [])))
}

const WITH_ALL_CHECKS = [
  'trust-record/valid-by-token-confirmed',
  'approval-request/valid-noted-declined',
  'governance-change/valid-impact',
  'intent-transition/valid-step-up',
]

test('every check of every artifact fails alone in some case', () => {
  for (const { name, cases } of published) {
    const isValid = cases.filter((one) => one.valid)
    // A caller's token, a provider's word, the end of a request, a checker's view and what a human signed are checked where they stand.
    const valid = isValid.find(({ id }) => WITH_ALL_CHECKS.includes(id)) ?? isValid[0]
    if (valid === undefined) throw new Error(`no valid case in ${name}`)
    const { checks } = verifyEvidence(textOf(valid), KEY_SET, { log: LOG })
    // A bundle holds a record, whose checks fail alone where the record stands by itself.
    const alone = failingAlone(name === 'bundles' ? all : cases)
    const names = checks.map((check) => check.name)
    expect(names.filter((one) => alone.has(one))).toEqual(names)
    if (name !== 'bundles') expect([...alone].toSorted()).toEqual(names.toSorted())
  }
})

// proves abuse: `stepUpAuthorization.keyId` is an object
// proves abuse: A place in a batch; abuse: A signature by batch under; abuse: A signature by batch where
test('the TypeScript verifier says of every case what is published of it', () => {
  expect(differing(typescriptAnswers(asked))).toEqual([])
})

describe.skipIf(noPython)('the Python package', () => {
  // proves abuse: `stepUpAuthorization.keyId` is an object
  // proves abuse: A place in a batch; abuse: A signature by batch under; abuse: A signature by batch where
  test('says of every case what is published of it', async () => {
    expect(differing(await pythonAnswers(asked))).toEqual([])
    // 5 s alone; its big-integer arithmetic has no other speed on a machine that is busy.
  })

  test.each([
    ['valid evidence', 0, (one: Case) => one.valid],
    ['invalid evidence', 1, (one: Case) => one.failing.length > 0],
    ['what is no evidence', 2, (one: Case) => one.unusable === true],
    ['a key that is not given', 2, (one: Case) => one.unchecked !== undefined && one.failing.length === 0],
  ])('its command answers %s by exit status %i', (_, status, is) => {
    const given = all.find(is)
    if (given === undefined) throw new Error('no such case')
    const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'))
    const file = join(scratch, 'evidence.json')
    writeFileSync(file, textOf(given))
    const keySet = KEY_FILES.flatMap((name) => ['--jwks', join(folder, name)])
    const args = ['-m', 'countersign', 'verify', file, ...keySet]
    expect(spawnSync('python3', args, { env: pythonEnv }).status).toBe(status)
    rmSync(scratch, { recursive: true })
  })
})
