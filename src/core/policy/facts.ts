// The facts that a rule can read: the CEL types of `signals`, `intent`, `authority`, `metadata` and `now`, and their values for one
// transaction.
import type { Environment } from '@marcbachmann/cel-js'
import { openEnvironment, type Vocabulary } from '../cel/expression.ts'
import { didYouMean } from '../../formats/text/nearest.ts'
import { celValue, openBudget } from '../cel/values.ts'

class Signals extends Map<string, unknown> {}
class Intent extends Map<string, unknown> {}
class Authority extends Map<string, unknown> {}
class Metadata extends Map<string, unknown> {}

const TIMESTAMP = 'google.protobuf.Timestamp'

/** Members of interface §2.1 by their CEL type. A member that a transaction leaves out makes a rule that reads it fail, so ask `has()`. */
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

function isSource(name: string): name is Source {
  return Object.hasOwn(SOURCES, name)
}

/** The bounds of `intent.parameters`, whose characters MAX_BODY_BYTES bounds. */
const PARAMETERS_MAX = { values: 1000, characters: Infinity }

const environment = openEnvironment()
  .registerType('Intent', { ctor: Intent, fields: TYPES.intent })
  .registerType('Authority', { ctor: Authority, fields: TYPES.authority })
  .registerType('Metadata', { ctor: Metadata, fields: TYPES.metadata })
  .registerVariable('intent', 'Intent')
  .registerVariable('authority', 'Authority')
  .registerVariable('metadata', 'Metadata')
  .registerVariable('now', TIMESTAMP)

/** The environment for checking rules over these signals. */
export function ruleEnvironment(signals: ReadonlyMap<string, 'boolean' | 'number'>): Environment {
  const fields = Object.fromEntries(
    [...signals].map(([name, type]) => [name, type === 'boolean' ? 'bool' : 'double']),
  )
  return environment
    .clone()
    .registerType('Signals', { ctor: Signals, fields })
    .registerVariable('signals', 'Signals')
}

/** Lists the names that rules over these signals may use. */
export function ruleVocabulary(signals: ReadonlyMap<string, unknown>): Vocabulary<Source> {
  return {
    isSource,
    constants: ['now'],
    readableInLoops: ['signals'],
    whole: [],
    keys: false,
    unknownMember(source, member) {
      const members = source === 'signals' ? [...signals.keys()] : Object.keys(TYPES[source])
      if (members.includes(member)) return undefined
      const meant = didYouMean(member, members)
      if (source === 'signals') return `Unknown signal '${member}'${meant}.`
      return `${source} has no member '${member}'${meant}.`
    },
    known: ['now', ...Object.keys(SOURCES), ...[...signals.keys()].map((name) => `signals.${name}`)],
  }
}

/** The environment of `where` in a velocity limit. */
export const whereEnvironment = environment

/** The names that a `where` may use: versions of a policy differ in their signals, and count each other's executions. */
export const whereVocabulary: Vocabulary<Source> = {
  ...ruleVocabulary(new Map()),
  readableInLoops: [],
  unknownMember: (source, member) =>
    source === 'signals'
      ? 'where reads intent, authority, metadata and now, no signals.'
      : ruleVocabulary(new Map()).unknownMember(source, member),
  known: ['now', 'intent', 'authority', 'metadata'],
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
          : celValue(value, openBudget('intent.parameters', PARAMETERS_MAX)),
      )
    }
    facts[source] = shown
  }
  return facts
}

function factDate(value: unknown, path: string): Date {
  const date = new Date(String(value))
  // An Invalid Date answers false to every comparison: a rule that rejects old times would let it pass.
  if (Number.isNaN(date.getTime())) throw new Error(`${path} is not a timestamp`)
  return date
}
