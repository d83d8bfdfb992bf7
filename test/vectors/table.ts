// The published vectors (test/vectors/countersign) as one table for every verifier: what it is asked, and where it says something else.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Asked } from './answers.ts'
import type { Case } from './case.ts'
import type { FileCase } from './files.ts'
import type { KeySetCase } from './key-sets.ts'
import { folder, readCases } from './published.ts'
import type { SummaryCase } from './summaries.ts'

export const ARTIFACTS = [
  'trust-records',
  'receipts',
  'refusal-records',
  'audit-events',
  'governance-changes',
  'intent-transitions',
  'provider-confirmations',
  'approval-requests',
  'approval-request-closes',
  'approval-request-notes',
  'bundles',
] as const
export const OTHERS = ['key-sets', 'files', 'summaries'] as const
export const KEY_FILES = ['keys.json', 'approver-keys.json']
/** The reader trusts these logs, where a case has nothing else. */
export const LOG = readFileSync(join(folder, 'log.json'), 'utf8')
export const KEY_SET = KEY_FILES.map((name) => readFileSync(join(folder, name), 'utf8'))
export const published = ARTIFACTS.map((name) => ({ name, cases: readCases(name) }))
export const all = published.flatMap(({ cases }) => cases)
export const keySets = readCases<KeySetCase>('key-sets')
export const files = readCases<FileCase>('files')
export const summaries = readCases<SummaryCase>('summaries', 8)

export function textOf(given: Case): string {
  return 'text' in given ? given.text : JSON.stringify(given.evidence)
}

/** A verifier is asked of each case with its own description of the log, or the common one, and null where there is none. */
export const askedWith = (logOf: (log: string | null) => string | null): Asked[] => [
  { files: KEY_SET },
  ...all.map((given) => ({ text: textOf(given), log: logOf(given.log === undefined ? LOG : given.log) })),
  ...files.map(({ text }) => ({ text })),
  ...keySets.map((given) => ({ files: given.files })),
]

/** Writes what is published of a case that is one piece of evidence, as one sentence. */
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

const says = (id: string, is: unknown, should: unknown) =>
  JSON.stringify(is) === JSON.stringify(should)
    ? []
    : [`${id}: ${JSON.stringify(is)}, and not ${JSON.stringify(should)}`]

/**
 * The cases of which an implementation says something else than is published.
 * @param due what it should say of a case, where that is less than is published
 */
export function differing(
  answers: readonly Answer[],
  due: (given: Case, answer: Answer | undefined) => Case = (given) => given,
): string[] {
  const [ofEvidence, ofFiles, ofKeySets] = [
    answers.slice(1, 1 + all.length),
    answers.slice(1 + all.length, 1 + all.length + files.length),
    answers.slice(1 + all.length + files.length),
  ]
  if (ofKeySets.length !== keySets.length) throw new Error(`${ofKeySets.length} answers on key sets`)
  return [
    ...all.flatMap((given, i) => {
      const should = due(given, ofEvidence[i])
      return says(given.id, found(ofEvidence[i], should), expected(should))
    }),
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
