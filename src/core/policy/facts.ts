// What a rule can look at: the CEL types of `signals`, `intent`, `authority`, `metadata` and `now`, and their values for one
// transaction. Every object becomes a Map, so that no name a caller chooses (`constructor`, `__proto__`) reaches a JS prototype.
import { Environment } from '@marcbachmann/cel-js'

class Signals extends Map<string, unknown> {}
class Intent extends Map<string, unknown> {}
class Authority extends Map<string, unknown> {}
class Metadata extends Map<string, unknown> {}

const TIMESTAMP = 'google.protobuf.Timestamp'

/** Members of interface §2.1 by their CEL type; what a transaction leaves out makes the rule that reads it fail, so ask `has()`. */
const TYPES = {
  intent: {
    intentId: 'string',
    authorizationId: 'string',
    action: 'string',
    target: 'string',
    parameters: 'map<string, dyn>',
    createdAt: TIMESTAMP,
  },
  authority: {
    authorityId: 'string',
    authorityType: 'string',
    principalId: 'string',
    displayName: 'string',
    issuedAt: TIMESTAMP,
  },
  metadata: {
    businessTransactionId: 'string',
    correlationId: 'string',
    sourceSystem: 'string',
    submittedBy: 'string',
    submittedAt: TIMESTAMP,
  },
} as const
const SOURCES = { signals: Signals, intent: Intent, authority: Authority, metadata: Metadata }

export type Source = keyof typeof SOURCES

export function isSource(name: string): name is Source {
  return Object.hasOwn(SOURCES, name)
}

/** Most values of `intent.parameters`, counted through lists and maps: bounds the cost of a loop (10,000 failing steps took 90 ms). */
const PARAMETER_VALUES_MAX = 1000
const PARAMETER_DEPTH_MAX = 64

const environment = new Environment({
  limits: { maxAstNodes: 200, maxDepth: 16, maxListElements: 100, maxMapEntries: 20, maxCallArguments: 2 },
})
  .registerType('Intent', { ctor: Intent, fields: TYPES.intent })
  .registerType('Authority', { ctor: Authority, fields: TYPES.authority })
  .registerType('Metadata', { ctor: Metadata, fields: TYPES.metadata })
  .registerVariable('intent', 'Intent')
  .registerVariable('authority', 'Authority')
  .registerVariable('metadata', 'Metadata')
  .registerVariable('now', TIMESTAMP)

/** The environment that rules over these signals are checked in. Its limits bound an expression's size and depth. */
export function ruleEnvironment(signals: ReadonlyMap<string, 'boolean' | 'number'>): Environment {
  const fields = Object.fromEntries(
    [...signals].map(([name, type]) => [name, type === 'boolean' ? 'bool' : 'double']),
  )
  return environment
    .clone()
    .registerType('Signals', { ctor: Signals, fields })
    .registerVariable('signals', 'Signals')
}

/** The members of `intent`, `authority` or `metadata` that a rule may name. */
export function membersOf(source: Exclude<Source, 'signals'>): string[] {
  return Object.keys(TYPES[source])
}

/** The members that a policy's rules read, so that only they are made into facts. */
export type Reads = ReadonlyMap<Source, ReadonlySet<string>>

export type Facts = { [source in Source]?: Map<string, unknown> } & { now: Date }

/**
 * The facts of one transaction, as the rules see them.
 * @throws Error for an invalid timestamp, and for parameters with more values or depth than a rule may look at
 */
export function factsOf(
  transaction: { readonly [source in Source]: Readonly<Record<string, unknown>> },
  reads: Reads,
  now: Date,
): Facts {
  const facts: Facts = { now }
  for (const [source, members] of reads) {
    const given = transaction[source]
    const types: Readonly<Record<string, string>> = source === 'signals' ? {} : TYPES[source]
    const shown = new SOURCES[source]()
    for (const member of members) {
      if (!Object.hasOwn(given, member)) continue
      const value = given[member]
      shown.set(
        member,
        types[member] === TIMESTAMP
          ? factDate(value, `${source}.${member}`)
          : fact(value, { left: PARAMETER_VALUES_MAX }, 0),
      )
    }
    facts[source] = shown
  }
  return facts
}

function factDate(value: unknown, path: string): Date {
  const date = new Date(String(value))
  // An Invalid Date answers false to every comparison: a rule that rejects what is too old would let it pass.
  if (Number.isNaN(date.getTime())) throw new Error(`${path} is not a timestamp`)
  return date
}

function fact(value: unknown, values: { left: number }, depth: number): unknown {
  if (--values.left < 0) throw new Error(`intent.parameters holds more than ${PARAMETER_VALUES_MAX} values`)
  // -0 is recorded as 0, so it decides as 0.
  if (value === 0) return 0
  if (typeof value !== 'object' || value === null) return value
  if (depth === PARAMETER_DEPTH_MAX)
    throw new Error(`intent.parameters is deeper than ${PARAMETER_DEPTH_MAX}`)
  if (Array.isArray(value)) return value.map((item) => fact(item, values, depth + 1))
  return new Map(Object.entries(value).map(([key, member]) => [key, fact(member, values, depth + 1)]))
}
