// POST /sandbox/policies/check: checks a draft of a policy as `countersign policy check` and `policy test` check a file, and compares it
// with the state in effect as its proposal would be. Nothing is stored.
import { DocumentError } from '../../src/core/cel/mistakes.ts'
import { yamlOf } from '../../src/core/cel/yaml.ts'
import { Failure } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { runCases } from '../../src/core/policy/cases.ts'
import { compileSource, type PolicySource } from '../../src/core/policy/load.ts'
import { PolicyCheckRequest } from '../../src/formats/schemas/sandbox.ts'
import { openChangeOf } from '../../src/store/tables/pending-changes.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'
import type { ChangeKinds } from './kinds.ts'
import { isOpenAlready } from './propose.ts'

/** A text of 64 KiB can hold thousands of mistakes; a person mends these first. */
const MISTAKES_SHOWN_MAX = 20
/** The cases of one request keep a thread busy for milliseconds. */
const CASES_MAX = 200

const requestOf = bodyOf(PolicyCheckRequest)

export async function checkPolicy(
  { body, caller }: WorkerRequest,
  { pool, changeKinds }: Pick<ThreadContext, 'pool'> & { readonly changeKinds: ChangeKinds },
) {
  const given = requestOf(body)
  if (given instanceof Failure) return given
  const source = foundIn(() => compileSource(yamlOf(given.policy, 'policy.yaml')))
  if (source instanceof DocumentError)
    return { body: JSON.stringify({ mistakes: shown(source), warnings: [] }) }
  const { document, contentHash, name, version } = source
  const cases = given.cases === undefined ? undefined : casesOf(source, given.cases)
  const target = `${name}/${version}`
  const { retires } = given
  const kind = changeKinds.policy
  // The same code reads and examines the proposal itself, so that nothing is found only once somebody has signed it.
  const proposal = kind.read(
    Buffer.from(JSON.stringify({ reason: 'A check.', proposedContent: document, retires })),
    { name, version },
  )
  const examined =
    proposal instanceof Failure
      ? proposal
      : await kind.examine({ ...proposal, proposedBy: caller.callerId }, pool)
  const openChange = await openChangeOf(pool, { kind: 'policy', target })
  const refused =
    examined instanceof Failure ? examined : openChange === undefined ? undefined : isOpenAlready(target)
  return {
    body: JSON.stringify({
      mistakes: [],
      warnings: examined instanceof Failure ? source.warnings : examined.warnings,
      contentHash,
      document,
      cases,
      wouldAnswer:
        refused === undefined
          ? { status: 201 }
          : { status: refused.status, error: refused.message, code: refused.code },
      openChange,
    }),
  }
}

function foundIn<T>(read: () => T): T | DocumentError {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    return error
  }
}

function shown({ mistakes }: DocumentError) {
  const hidden = mistakes.length - MISTAKES_SHOWN_MAX
  return [
    ...mistakes
      .slice(0, MISTAKES_SHOWN_MAX)
      .map(({ line, column, rule, part, message }) => ({ line, column, rule, part, message })),
    ...(hidden > 0 ? [{ message: `and ${hidden} more mistakes.` }] : []),
  ]
}

/** As `countersign policy test`: the cases that do not end as they say, and the rules that decide no case. */
function casesOf({ policy }: PolicySource, text: string) {
  const run = foundIn(() => runCases(policy, yamlOf(text, 'cases.yaml'), CASES_MAX))
  if (run instanceof DocumentError) return { count: 0, failures: run.message.split('\n'), undecided: [] }
  const { count, failures, decidedBy } = run
  const undecided = Iterator.from(decidedBy)
    .filter(([, cases]) => cases === 0)
    .map(([rule]) => rule)
  return { count, failures, undecided: [...undecided] }
}
