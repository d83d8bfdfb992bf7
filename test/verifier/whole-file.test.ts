// A verdict is about the whole file: genuine evidence whose members are moved, wrapped, joined, stripped or replaced. What a forger wrote
// holds the word FORGED, and no verifier may exit 0 on a text with it, but where the documents say that nothing signs a text.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { noPython, pythonAnswers, typescriptAnswers, type Answer, type Asked } from '../vectors/answers.ts'
import type { Json, Members } from '../vectors/edit.ts'
import { evidenceOf, folder } from '../vectors/published.ts'

const FORGED = 'FORGED'
const KEY_SET = ['keys.json', 'approver-keys.json'].map(readVector)
const LOG = readVector('log.json')
const LISTS = ['events', 'changes', 'confirmations', 'requests', 'refusals']

/** By what stands in them the richest valid cases: every kind of member that the service writes is in one. */
const GENUINE = {
  'trust-record': ['valid-confirmed', 'valid-batch-of-two-hybrid-0', 'noted-failed-latest'],
  receipt: ['valid-hybrid'],
  'refusal-record': ['valid-mismatch'],
  'audit-event': ['valid'],
  'governance-change': ['valid-advised'],
  'intent-transition': ['valid-resolved'],
  'provider-confirmation': ['valid-executed'],
  'approval-request': ['valid-used', 'valid-ended', 'valid-declined', 'valid-noted'],
  'approval-request-close': ['valid-declined'],
  'approval-request-note': ['valid-question'],
  bundle: ['valid-passkeys'],
} as const

/** Texts that nothing signs, as docs/handbook/evidence.md lists them: everything else that a reader reads is verified. */
const UNSIGNED = [
  'approval-request approvals.*.approvalId',
  'approval-request approvals.*.approverId',
  'approval-request approvals.*.keyId',
  'approval-request eligible.*',
  'approval-request endedBy.changeId',
  'approval-request url',
  'bundle changes.*.diff.added.*',
  'bundle changes.*.warnings.*',
  'governance-change diff.added.*',
  'governance-change warnings.*',
  'trust-record verifications.*.message',
  'trust-record verifications.*.verificationId',
]

function readVector(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

function genuine(artifact: string, id: string): Members {
  return evidenceOf(`${artifact}s`, `${artifact}/${id}`) as Members
}

const bases = Object.entries(GENUINE).flatMap(([artifact, ids]) =>
  ids.map((id) => ({ artifact, evidence: genuine(artifact, id) })),
)

interface Forged {
  readonly what: string
  readonly text: string
}

/** The value, and a copy of it for each place within it at which `change` makes something else. */
function* changedAt(
  value: Json,
  change: (place: Json, path: string) => Json | undefined,
  path = '',
): Generator<{ path: string; value: Json }> {
  const changed = change(value, path)
  if (changed !== undefined) yield { path, value: changed }
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value))
    for (const inner of changedAt(member, change, path === '' ? name : `${path}.${name}`))
      yield {
        path: inner.path,
        value: Array.isArray(value)
          ? value.with(Number(name), inner.value)
          : { ...value, [name]: inner.value },
      }
}

const isObject = (value: Json): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Nothing signs a difference, of whatever shape it is. */
const isDifference = (path: string) => /(?:^|\.)diff(?:\.|$)/.test(path)

function* forgeriesOf(artifact: string, evidence: Members): Generator<Forged> {
  const forgery = (what: string, value: Json): Forged => ({
    what: `${artifact}: ${what}`,
    text: JSON.stringify(value),
  })
  const added = changedAt(evidence, (place) => {
    if (Array.isArray(place)) return [...place, { [FORGED]: 1 }]
    return isObject(place) ? { ...place, [FORGED]: { record: evidence } } : undefined
  })
  for (const { path, value } of added)
    if (!isDifference(path)) yield forgery(`added to ${JSON.stringify(path)}`, value)
  for (const { path, value } of changedAt(evidence, (_, at) => (at === '' ? undefined : { [FORGED]: 1 })))
    if (!isDifference(path)) yield forgery(`an object in place of ${path}`, value)

  // One forged text in a signed member; the marks of each kind are among its members.
  const [{ value: forged }] = changedAt(evidence, (place, path) =>
    typeof place === 'string' && !/^(?:bundle|signature)|signature/.test(path) ? FORGED : undefined,
  ) as unknown as [{ value: Members }]
  yield forgery('forged', forged)
  for (const name of ['record', 'evidence', 'bundle', ...LISTS]) {
    yield forgery(`wrapped as ${name}`, { [name]: forged })
    yield forgery(`wrapped as ${name} in a list`, [{ [name]: forged }])
  }
  for (const stripped of [...Object.keys(forged), undefined]) {
    const rest = Object.fromEntries(Object.entries(forged).filter(([name]) => name !== stripped))
    yield forgery(`without ${stripped}`, rest)
    yield forgery(`without ${stripped}, in a list beside the genuine one`, [evidence, rest])
    for (const list of LISTS)
      yield forgery(`without ${stripped}, with ${list}`, { ...rest, [list]: [evidence] })
    for (const other of bases)
      yield forgery(`without ${stripped}, joined with ${other.artifact}`, { ...rest, ...other.evidence })
  }
  for (const list of LISTS)
    for (const name of ['next', 'completeUntil', 'publicKeys', 'verificationCount', 'decidedBy', 'record'])
      yield forgery(`beside ${list} as ${name}`, { [list]: [evidence], [name]: forged })
}

/** A text in place of each text. */
function* otherTexts(artifact: string, evidence: Members): Generator<Forged> {
  for (const { path, value } of changedAt(evidence, (place) =>
    typeof place === 'string' ? FORGED : undefined,
  ))
    yield { what: `${artifact} ${path.replaceAll(/\.\d+/g, '.*')}`, text: JSON.stringify(value) }
}

const exitCodeOf = (answer: Answer | undefined) =>
  answer !== undefined && 'exitCode' in answer ? answer.exitCode : undefined

/** Those on which a verifier exits 0; both verifiers say the same of each. */
async function passing(forged: readonly Forged[]): Promise<string[]> {
  const asked: Asked[] = [{ files: KEY_SET }, ...forged.map(({ text }) => ({ text, log: LOG }))]
  const python = noPython ? undefined : pythonAnswers(asked)
  const typescript = typescriptAnswers(asked)
  const others = (await python) ?? typescript
  const differing = forged.filter(
    (_, i) => JSON.stringify(typescript[i + 1]) !== JSON.stringify(others[i + 1]),
  )
  expect(differing.slice(0, 3)).toEqual([])
  return forged.flatMap(({ what }, i) => (exitCodeOf(typescript[i + 1]) === 0 ? [what] : []))
}

describe('genuine evidence', () => {
  test('is valid, of every kind', () => {
    const answers = typescriptAnswers([
      { files: KEY_SET },
      ...bases.map(({ evidence }) => ({ text: JSON.stringify(evidence), log: LOG })),
    ])
    expect(answers.slice(1).map(exitCodeOf)).toEqual(bases.map(() => 0))
  })

  // proves abuse: A genuine list, record or bundle moved, wrapped, joined or stripped of its mark in a file with forged members
  test('whose members are moved, wrapped, joined or stripped exits 0 nowhere', async () => {
    const all = bases.flatMap(({ artifact, evidence }) => [...forgeriesOf(artifact, evidence)])
    // The part that was stripped or written over may have been the forged text.
    const forged = all.filter(({ text }) => text.includes(FORGED))
    expect(forged.length).toBeGreaterThan(4_000)
    expect(await passing(forged)).toEqual([])
  })

  test('has other texts nowhere but where the documents say that nothing signs them', async () => {
    const forged = bases.flatMap(({ artifact, evidence }) => [...otherTexts(artifact, evidence)])
    expect(forged.length).toBeGreaterThan(200)
    expect([...new Set(await passing(forged))].toSorted()).toEqual(UNSIGNED)
  })
})
