// The TypeScript and the Python verifier, on evidence and key sets that were changed at random: the same verdict, exit code, checks and notes.
import { describe, expect, test } from 'vitest'
import { noPython, pythonAnswers, typescriptAnswers, type Answer } from '../vectors/answers.ts'
import { mutations } from '../vectors/mutations.ts'

const COUNT = 5_000
const SEED_OF_THE_PROJECT = 42
/** Another one looks elsewhere: SEED=7 npx vitest run test/verifier/differential.test.ts */
const SEED = Number(process.env['SEED'] ?? SEED_OF_THE_PROJECT)

/** Says in a word what came of each mutation. */
function outcomeOf(answer: Answer): string {
  if ('keyIds' in answer) return 'key set read'
  if ('refused' in answer) return 'key set refused'
  if (answer.reports.length === 0) return 'unusable'
  if (answer.reports.length > 1) return 'page'
  return answer.reports[0]?.verdict ?? ''
}

describe.skipIf(noPython)('mutations', () => {
  // proves abuse: `stepUpAuthorization.keyId` is an object
  test('are the same to both verifiers, and of every outcome', async () => {
    const asked = mutations({ seed: SEED, count: COUNT })
    const python = pythonAnswers(asked)
    const typescript = typescriptAnswers(asked)
    const answers = await python
    expect(answers).toHaveLength(asked.length)
    const disagreements = typescript.flatMap((answer, i) => {
      const [ts, py] = [JSON.stringify(answer), JSON.stringify(answers[i])]
      return ts === py
        ? []
        : [`${i}: TypeScript ${ts}, Python ${py}: ${JSON.stringify(asked[i]).slice(0, 20_000)}`]
    })
    expect(disagreements.slice(0, 5)).toEqual([])

    const counted = new Map<string, number>()
    for (const answer of typescript) counted.set(outcomeOf(answer), (counted.get(outcomeOf(answer)) ?? 0) + 1)
    for (const outcome of [
      'key set read',
      'key set refused',
      'valid',
      'invalid',
      'unchecked',
      'unusable',
      'page',
    ])
      expect(counted.get(outcome) ?? 0, outcome).toBeGreaterThan(COUNT / 50)
    // Evidence that is signed by batch, or says so, is among both.
    const byBatch = typescript.filter((_, i) => JSON.stringify(asked[i]).includes('-batch'))
    for (const outcome of ['valid', 'invalid'])
      expect(byBatch.filter((answer) => outcomeOf(answer) === outcome).length).toBeGreaterThan(COUNT / 150)
    const failed = new Set(
      typescript.flatMap((answer) =>
        'reports' in answer
          ? answer.reports.flatMap(({ artifact, checks }) =>
              checks.flatMap(([name, outcome]) => (outcome === 'fails' ? [`${artifact} ${name}`] : [])),
            )
          : [],
      ),
    )
    // Each of the checks was seen to fail. By another seed the rarest of them may not be.
    if (SEED === SEED_OF_THE_PROJECT) expect(failed.size).toBe(53)
    else expect(failed.size).toBeGreaterThanOrEqual(43)
  })
})
