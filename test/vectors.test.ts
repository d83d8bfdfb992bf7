// The published vectors (test/vectors/countersign): one table for the TypeScript and the Python verifier.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { verifyCommand } from '../src/cli/verify-command.ts'
import { readTrusted, verifyEvidence } from '../src/core/verifier/index.ts'
import { reportsIn } from '../src/core/verifier/many.ts'
import { exitCodeOf, openSummary, summaryLines } from '../src/core/verifier/summary.ts'
import { noPython, pythonAnswers, pythonEnv, typescriptAnswers } from './vectors/answers.ts'
import type { Answer, Asked } from './vectors/answers.ts'
import type { Case } from './vectors/case.ts'
import type { FileCase } from './vectors/files.ts'
import { folder, vectorFiles, vectorText } from './vectors/generate.ts'
import type { KeySetCase } from './vectors/key-sets.ts'
import type { SummaryCase } from './vectors/summaries.ts'

const ARTIFACTS = [
  'trust-records',
  'receipts',
  'refusal-records',
  'audit-events',
  'governance-changes',
  'intent-transitions',
  'provider-confirmations',
  'approval-requests',
  'approval-request-closes',
  'bundles',
] as const
const OTHERS = ['key-sets', 'files', 'summaries'] as const
const SMALL_FILE_CHARACTERS = 100_000
const KEY_FILES = ['keys.json', 'approver-keys.json']
/** What the reader trusts of logs, where a case has nothing else. */
const LOG = readFileSync(join(folder, 'log.json'), 'utf8')
const KEY_SET = KEY_FILES.map((name) => readFileSync(join(folder, name), 'utf8'))
const published = ARTIFACTS.map((name) => ({ name, cases: readCases<Case>(name) }))
const all = published.flatMap(({ cases }) => cases)
const keySets = readCases<KeySetCase>('key-sets')
const files = readCases<FileCase>('files')
const summaries = readCases<SummaryCase>('summaries', 8)

/** Throws for a file without cases: an empty run proves nothing. */
function readCases<T>(name: string, least = 10): T[] {
  const { cases } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as { cases: T[] }
  if (cases.length < least) throw new Error(`${name}.json holds ${cases.length} cases`)
  return cases
}

function textOf(given: Case): string {
  return 'text' in given ? given.text : JSON.stringify(given.evidence)
}

const asked: Asked[] = [
  { files: KEY_SET },
  ...all.map((given) => ({ text: textOf(given), log: given.log === undefined ? LOG : given.log })),
  ...files.map(({ text }) => ({ text })),
  ...keySets.map((given) => ({ files: given.files })),
]

/** What is published of a case that is one piece of evidence, as one sentence. */
function expected({ artifact, valid, failing, unchecked = [], notes, unusable }: Case): object {
  // A page is no piece of evidence: the table says of both that they are unusable as one.
  if (unusable === true) return { unusable }
  const verdict = valid ? 'valid' : failing.length > 0 ? 'invalid' : 'unchecked'
  return {
    artifact,
    verdict,
    failing: failing.toSorted(),
    unchecked: unchecked.toSorted(),
    ...(notes && { notes }),
  }
}

/** An answer, as `expected` says it of the same case. */
function found(answer: Answer | undefined, given: Case): object {
  const { notes: due, unusable } = given
  if (answer === undefined || !('reports' in answer)) return { answer }
  const [report, ...others] = answer.reports
  if (unusable === true && (report === undefined || isPage(given))) return { unusable }
  if (report === undefined || others.length > 0) return { reports: answer.reports.length }
  const { artifact, verdict, checks, notes } = report
  const named = (is: (outcome: unknown) => boolean) =>
    checks.flatMap(([name, outcome]) => (is(outcome) ? [name] : [])).toSorted()
  return {
    artifact,
    verdict,
    failing: named((outcome) => outcome === 'fails'),
    unchecked: named(Array.isArray),
    ...(due && { notes }),
  }
}

/** A page of evidence is unusable as one piece, and a file like any other: files.json has more of those. */
function isPage(given: Case): boolean {
  try {
    const value = JSON.parse(textOf(given)) as Record<string, unknown>
    const { events, changes, confirmations, requests, refusals, signature } = value
    const isList = [events, changes, confirmations, requests, refusals].some((list) => Array.isArray(list))
    return Array.isArray(value) || (signature === undefined && isList)
  } catch {
    return false
  }
}

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
    const isSame = JSON.stringify(JSON.parse(text)) === JSON.stringify(content)
    expect(isSame, `${name}: run npm run vectors`).toBe(true)
    // To format all 6 MB takes 10 s.
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
      const status = await verifyCommand({
        files: sources.map(({ name }) => join(at, name)),
        jwks: [join(folder, 'keys.json')],
        log: join(folder, 'log.json'),
        json: true,
        quiet: true,
        report: undefined,
        threadFile: new URL('../src/cli/verify/thread.ts', import.meta.url),
      })
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
  'trust-record/valid-confirmed',
  'approval-request/valid-declined',
  'governance-change/valid-impact',
]

test('every check of every artifact fails alone in some case', () => {
  for (const { name, cases } of published) {
    const isValid = cases.filter((one) => one.valid)
    // What a provider says, how a request was closed, and what a checker saw is checked where it stands.
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

const says = (id: string, is: unknown, should: unknown) =>
  JSON.stringify(is) === JSON.stringify(should)
    ? []
    : [`${id}: ${JSON.stringify(is)}, and not ${JSON.stringify(should)}`]

/** The cases of which an implementation says something else than is published. */
function differing(answers: readonly Answer[]): string[] {
  const [ofEvidence, ofFiles, ofKeySets] = [
    answers.slice(1, 1 + all.length),
    answers.slice(1 + all.length, 1 + all.length + files.length),
    answers.slice(1 + all.length + files.length),
  ]
  expect(ofKeySets).toHaveLength(keySets.length)
  return [
    ...all.flatMap((given, i) => says(given.id, found(ofEvidence[i], given), expected(given))),
    ...files.flatMap(({ id, exitCode, verdicts }, i) => {
      const answer = ofFiles[i]
      const is =
        answer !== undefined && 'reports' in answer
          ? { exitCode: answer.exitCode, verdicts: answer.reports.map(({ verdict }) => verdict) }
          : { answer }
      return says(id, is, { exitCode, verdicts })
    }),
    ...keySets.flatMap(({ id, keyIds }, i) =>
      says(id, ofKeySets[i], keyIds === undefined ? { refused: true } : { keyIds }),
    ),
  ]
}

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
