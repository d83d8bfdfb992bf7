// The handbook is enough to write a verifier: examples/verifier, which was written from it alone, reaches the published verdicts.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HANDBOOK_VERIFIER, hasCryptography, pythonAnswers, type Answer } from '../vectors/answers.ts'
import type { Case } from '../vectors/case.ts'
import { folder } from '../vectors/published.ts'
import { all, askedWith, differing, KEY_FILES, summaries, textOf } from '../vectors/table.ts'

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'verifier')
test.runIf(process.env['CI'] === 'true')('Python and its package cryptography are installed', () => {
  expect(hasCryptography).toBe(true)
})

/** These it cannot judge, beside signatures of ML-DSA-65. Each was tried: a case that it judges rightly after all is no longer in this list. */
const OUT_OF_REACH: Readonly<Record<string, string>> = {
  'bundle/valid-policy': 'it takes no tlog-policy, a format of C2SP that the handbook only names',
  'bundle/policy-other-log': 'a tlog-policy',
  'bundle/valid-witnesses': 'a tlog-policy',
  'bundle/witness-missing': 'a tlog-policy',
  'bundle/valid-ml-dsa-44-only': 'the description has an ML-DSA-44 key alone',
  'bundle/rotated-unknown': 'an ML-DSA-44 key that is not in the description',
  'bundle/checkpoint-ml-dsa-44': 'the ML-DSA-44 signature is wrong',
  'bundle/checkpoint-no-ed25519': 'an ML-DSA-44 key signed the checkpoint, and no Ed25519 key',
  'bundle/checkpoint-no-ml-dsa-44': 'the ML-DSA-44 signature is missing',
}
const LACKS_ML_DSA = /^a signature of ml-dsa-(?:44|65), which this verifier lacks$/

const verdictOf = ({ valid, failing }: Case) =>
  valid ? 'valid' : failing.length > 0 ? 'invalid' : 'unchecked'
const reportOf = (answer: Answer | undefined) =>
  answer !== undefined && 'reports' in answer ? answer.reports[0] : undefined

/** The checks that it left open for want of ML-DSA. */
function openFor(answer: Answer | undefined): string[] {
  const checks = reportOf(answer)?.checks ?? []
  return checks.flatMap(([name, outcome]) =>
    typeof outcome !== 'string' && outcome.some((reason) => LACKS_ML_DSA.test(reason)) ? [name] : [],
  )
}

/** A case as it is published, but for the checks that only ML-DSA-65 could make. It writes no notes. */
function withoutMlDsa(published: Case, answer: Answer | undefined): Case {
  const { notes: _, ...given } = published
  const open = openFor(answer)
  if (open.length === 0) return given
  const failing = given.failing.filter((name) => !open.includes(name))
  return { ...given, valid: false, failing, unchecked: [...new Set([...(given.unchecked ?? []), ...open])] }
}

/** The description of a log without its ML-DSA-44 keys. What is no description stays as it is. */
function ed25519Only(log: string | null): string | null {
  try {
    const { logs } = JSON.parse(log ?? '') as { logs: { vkeys: string[] }[] }
    const kept = logs.map((one) => ({ ...one, vkeys: one.vkeys.filter((vkey) => !isMlDsa44(vkey)) }))
    return JSON.stringify({ logs: kept })
  } catch {
    return log
  }
}
const isMlDsa44 = (vkey: string) => Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').length === 1313

describe.skipIf(!hasCryptography)('the verifier that was written from the handbook', () => {
  test('says what is published of every case, but of those that it cannot judge', async () => {
    const answers = await pythonAnswers(askedWith(ed25519Only), HANDBOOK_VERIFIER)
    const different = differing(answers, withoutMlDsa).map((line) => line.slice(0, line.indexOf(':')))
    expect(different.toSorted()).toEqual(Object.keys(OUT_OF_REACH).toSorted())
    const open = all.filter((_, i) => openFor(answers[i + 1]).length > 0)
    expect(open.filter((given) => !textOf(given).includes('"ml-dsa-65'))).toEqual([])
    expect(open.length).toBeGreaterThan(0)
    expect(open.length).toBeLessThan(all.length / 20)
  })

  test('with the ML-DSA keys of the log too, it calls valid and invalid only what is, and leaves open what they show', async () => {
    const answers = await pythonAnswers(
      askedWith((log) => log),
      HANDBOOK_VERIFIER,
    )
    const judged = all.flatMap((given, i) => {
      const verdict = reportOf(answers[i + 1])?.verdict ?? 'unchecked'
      return given.unusable || verdict === 'unchecked' || verdict === verdictOf(given) ? [] : [given.id]
    })
    expect(judged).toEqual([])
    const governed = all.findIndex(({ id }) => id === 'bundle/valid-governed')
    expect(openFor(answers[governed + 1]).toSorted()).toEqual(['log checkpoint', 'log order', 'log proofs'])
  })

  test.each(summaries)('its command answers $id by exit status $exitCode', ({ sources, exitCode }) => {
    const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'))
    for (const { name, text } of sources) writeFileSync(join(scratch, name), text)
    const keys = ['--jwks', ...KEY_FILES.map((name) => join(folder, name))]
    const given = sources.map(({ name }) => name)
    const args = [join(EXAMPLE, 'verify.py'), ...given, ...keys, '--log', join(folder, 'log.json')]
    const { status, stdout } = spawnSync(HANDBOOK_VERIFIER.python, args, {
      cwd: scratch,
      env: HANDBOOK_VERIFIER.env,
      encoding: 'utf8',
    })
    expect(status).toBe(exitCode)
    expect(stdout).not.toContain('\u001b')
    rmSync(scratch, { recursive: true })
  })
})
