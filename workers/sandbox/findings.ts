// Findings of POST /sandbox/evaluate about a transaction beside its decision: problems, which keep it from being executed, and
// warnings, which do not (decisions §9).
import { isObject, type Fields } from '../../src/formats/json/fields.ts'
import type { CompiledPolicy } from '../../src/core/policy/check.ts'
import {
  bindingMismatches,
  describeMismatches,
  isLeftOut,
  signalProblem,
  type Mismatch,
  type PolicySubject,
} from '../../src/core/policy/evaluate.ts'
import { BusinessTransaction } from '../../src/formats/schemas/business-transaction.ts'

export interface Finding {
  /** A place in the transaction; empty for the last finding where there are more than fit. */
  readonly path: string
  /** A sentence. */
  readonly message: string
}

const FINDINGS_MAX = 50
const CHARACTERS_MAX = 200_000

/** The findings that fit in an answer: a body of 100 KB can have thousands, each with a path of 50 KB. */
export function shown(findings: Iterable<Finding>): Finding[] {
  const listed: Finding[] = []
  let characters = 0
  for (const { path, message } of findings) {
    if (listed.length === FINDINGS_MAX || characters > CHARACTERS_MAX)
      return [...listed, { path: '', message: 'More problems exist; fix these to see them.' }]
    listed.push({ path, message })
    characters += path.length + message.length
  }
  return listed
}

/** Declared signals that the policy cannot read. */
export function* signalFindings(policy: CompiledPolicy, signals: Fields): Generator<Finding> {
  for (const name of policy.signals.keys()) {
    if (isLeftOut(name, policy, signals)) continue
    const message = signalProblem(name, policy, signals)
    if (message !== undefined) yield { path: `signals.${name}`, message }
  }
}

/** The mismatches of those signals that can be read. */
export function readableMismatches(policy: CompiledPolicy, subject: PolicySubject): Mismatch[] {
  return bindingMismatches(policy, subject).filter(
    ({ signal }) => signalProblem(signal, policy, subject.signals) === undefined,
  )
}

export function mismatchFinding(mismatch: Mismatch): Finding {
  const { signal, source } = mismatch
  return {
    path: `signals.${signal}`,
    message: `Signal '${signal}' must equal ${source}: ${describeMismatches([mismatch])}.`,
  }
}

/** Warns of members that are silently stored or dropped: most often a misspelt name. */
export function* warningsOf(body: unknown, policy: CompiledPolicy | undefined): Generator<Finding> {
  if (!isObject(body)) return
  for (const [name, value] of Object.entries(body)) {
    const schema = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined
    if (schema === undefined) yield dropped(name)
    if (!isObject(value) || schema === undefined || !('properties' in schema)) continue
    const known = schema.properties as object
    for (const member of Object.keys(value))
      if (!Object.hasOwn(known, member)) yield dropped(`${name}.${member}`)
  }
  const { signals } = body
  if (policy === undefined || !isObject(signals)) return
  for (const name of Object.keys(signals))
    if (!policy.signals.has(name))
      yield {
        path: `signals.${name}`,
        message: `Policy '${policy.name}' version '${policy.version}' does not declare signal '${name}': it decides nothing.`,
      }
}

const MEMBERS: Readonly<Record<string, object>> = BusinessTransaction.properties

function dropped(path: string): Finding {
  return { path, message: `${path} is not a field of a Business Transaction: it is dropped.` }
}
