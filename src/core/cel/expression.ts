// The language of expressions in policies and webhook rules. An allow-list: they run on every execution and delivery, and CEL as
// implemented can run for minutes (`matches` is a JS RegExp; nested loops, `split` and `join` multiply a caller's 100 KB) or read clocks
// of its own (time zones).
import {
  Environment,
  evaluate,
  EvaluationError,
  ParseError,
  serialize,
  TypeError as CelTypeError,
  type ASTNode,
} from '@marcbachmann/cel-js'
import { isTimestamp } from '../../formats/schemas/primitives.ts'
import { didYouMean, nearest } from '../../formats/text/nearest.ts'
import { neverEvaluated } from './never.ts'
import { children } from './nodes.ts'
import { registerTimeZones, TIME_GETTERS, timeZoneProblem, zonedName } from './time-zones.ts'

const FUNCTIONS = new Set(['has', 'size', 'timestamp', 'duration'])
/** The numbers of arguments that each method takes; a time is read in UTC unless a time zone is given. */
const METHODS = new Map<string, readonly number[]>([
  ['size', [0]],
  ['startsWith', [1]],
  ['endsWith', [1]],
  ['contains', [1]],
  ...TIME_GETTERS.map((name) => [name, [0, 1]] as const),
])
const LOOPS = new Set(['all', 'exists', 'exists_one', 'filter'])
const ALLOWED_FUNCTIONS: readonly string[] = [...new Set([...FUNCTIONS, ...METHODS.keys(), ...LOOPS])]

/** Bounds an expression's size and depth. */
const EXPRESSION_LIMITS = {
  maxAstNodes: 200,
  maxDepth: 16,
  maxListElements: 100,
  maxMapEntries: 20,
  maxCallArguments: 2,
} as const

/** An environment for expressions, to which each kind of document adds its variables. */
export function openEnvironment(): Environment {
  return registerTimeZones(new Environment({ limits: EXPRESSION_LIMITS }))
}

export interface Mistake {
  /** Offset into the expression. */
  readonly at: number
  readonly message: string
}

/** The names that expressions of one kind of document read, each with members. */
export interface Vocabulary<Source extends string> {
  readonly isSource: (name: string) => name is Source
  /** Other names of constant size, which a loop variable must not hide. */
  readonly constants: readonly string[]
  /** Completes "A loop may read 'x'…": sources that stay small, which a loop's body may read again. */
  readonly readableInLoops: readonly Source[]
  /** Sources that may be read as a whole. */
  readonly whole: readonly Source[]
  /** Whether `source['member']` is `source.member`. */
  readonly keys: boolean
  /** Returns a sentence if there is no such member. */
  readonly unknownMember: (source: Source, member: string) => string | undefined
  /** Names that an unknown name may be a misspelling of, as they are written: `signals.amount`. */
  readonly known: readonly string[]
}

/** The members of each source that are read: `['a', 'b']` is `payload.a.b` or `payload['a']['b']`, and all below it. */
export type Paths<Source extends string> = ReadonlyMap<Source, readonly (readonly string[])[]>

export interface Inspection<Source extends string> {
  readonly reads: Map<Source, string[][]>
  readonly mistakes: Mistake[]
  readonly warnings: Mistake[]
}

/** An expression that may be evaluated. */
export interface Expression {
  readonly ast: ASTNode
  /** @throws EvaluationError; Error for failures that the language's implementation did not foresee */
  readonly evaluate: (facts: object) => unknown
}

/**
 * Parses an expression, checks that it uses only allowed constructs, and checks its type.
 * @param given.types the types it may have, as CEL names them
 * @returns no expression when there are mistakes
 */
export function compileExpression<Source extends string>(
  text: string,
  given: {
    readonly environment: Environment
    readonly vocabulary: Vocabulary<Source>
    readonly types: readonly string[]
  },
): Inspection<Source> & { readonly expression?: Expression } {
  try {
    const parsed = given.environment.parse(text)
    const { zoned, ...inspection } = inspect(parsed.ast, given.vocabulary)
    if (inspection.mistakes.length > 0) return inspection
    const { type, error } = parsed.check()
    if (error !== undefined) throw error
    if (!given.types.includes(type ?? '')) {
      inspection.mistakes.push({ at: 0, message: `Must be a ${given.types[0]}, is ${type}.` })
      return inspection
    }
    inspection.warnings.push(...neverEvaluated(parsed.ast))
    const run = zoned.length === 0 ? parsed : given.environment.parse(withZones(text, zoned))
    run.check()
    return { ...inspection, expression: { ast: parsed.ast, evaluate: (facts) => run(facts) as unknown } }
  } catch (error) {
    if (!(error instanceof ParseError || error instanceof CelTypeError)) throw error
    const at = error.range?.start ?? 0
    const message = `${summaryOf(error)}${hint(error, { text, at, known: given.vocabulary.known })}.`
    return { reads: new Map(), mistakes: [{ at, message }], warnings: [] }
  }
}

/** A call of a time getter with a time zone is evaluated under another name of the same length (time-zones.ts). */
function withZones(text: string, zoned: readonly number[]): string {
  return zoned.reduce((changed, at) => changed.slice(0, at) + zonedName(changed.slice(at)), text)
}

function summaryOf({ summary }: ParseError | CelTypeError): string {
  return summary
    .replace(/^Unexpected token: EOF$/, 'The expression ends where more must follow')
    .replace(/^Expected R(PAREN|BRACKET|BRACE), got EOF$/, 'A bracket is opened and not closed')
    .replaceAll('google.protobuf.', '')
}

/** Operators of other languages, as patterns of the text before and after the error, and their equivalents here. */
const FOREIGN: readonly (readonly [RegExp, RegExp, string])[] = [
  [/$/, /^=</, "'<='"],
  [/$/, /^=>/, "'>='"],
  [/$/, /^=/, "'=='"],
  [/<$/, /^>/, "'!='"],
  [/$/, /^(&|and\b)/i, "'&&'"],
  [/$/, /^(\||or\b)/i, "'||'"],
  [/\bnot\s+$/i, /^/, "'!'"],
  [/$/, /^if\b/, "'condition ? this : that'"],
]

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function hint(
  { code, summary }: ParseError | CelTypeError,
  { text, at, known }: { text: string; at: number; known: readonly string[] },
): string {
  if (code === 'no_such_overload' && /\bint\b/.test(summary) && /\bdouble\b/.test(summary))
    return ' (numbers are doubles: write 20.0)'
  const [, variable] = /^Unknown variable: (.*)$/.exec(summary) ?? []
  if (variable !== undefined) {
    const meant = nearest(variable, known.map(lastPart))
    const name = known.find((one) => lastPart(one) === meant)
    return name === undefined ? '' : ` (did you mean '${name}'?)`
  }
  const [before, rest] = [text.slice(0, at), text.slice(at)]
  const foreign = FOREIGN.find(([behind, ahead]) => behind.test(before) && ahead.test(rest))
  return foreign === undefined || !/^(Unexpected|Reserved)/.test(summary)
    ? ''
    : ` (did you mean ${foreign[2]}?)`
}

/** Tells an expression's author why it could not be evaluated. */
export function cause(error: unknown): string {
  if (error instanceof EvaluationError) return error.summary
  return error instanceof Error ? error.message : 'unknown cause'
}

/** The context of a node: inside a loop no other loop may start, and a loop's body may not read the caller's data again. */
interface Place {
  readonly looping: boolean
  /** The loop's variable, set in its body. */
  readonly variable?: string
}

/** Walks one parsed expression and collects the members it reads and everything in it that is not allowed. */
function inspect<Source extends string>(
  ast: ASTNode,
  vocabulary: Vocabulary<Source>,
): Inspection<Source> & {
  /** Offsets of the names of getters with a time zone. */
  readonly zoned: number[]
} {
  const { isSource, constants, readableInLoops, whole, keys, unknownMember } = vocabulary
  const zoned: number[] = []
  const inspection = {
    reads: new Map<Source, string[][]>(),
    mistakes: [] as Mistake[],
    warnings: [] as Mistake[],
    zoned,
  }
  walk(ast, { looping: false })
  return inspection

  function walk(node: ASTNode, place: Place): void {
    const path = pathOf(node)
    if (path !== undefined) return read(node, path, place)
    if (node.op === 'call' && !FUNCTIONS.has(node.args[0])) return refuseCall(node, node.args[0])
    if (node.op === 'call' && !isTimeLiteral(node.args))
      refuse(node, `${node.args[0]}() takes a valid literal only.`)
    if (node.op === 'rcall' && LOOPS.has(node.args[0])) return walkLoop(node, place)
    if (node.op === 'rcall' && METHODS.get(node.args[0])?.includes(node.args[2].length) !== true)
      return refuseCall(node, node.args[0])
    if (node.op === 'rcall' && TIME_GETTERS.includes(node.args[0])) zone(node, node.args, place)
    // V8 took 86 ms to search a caller's 50 KB for 25 KB.
    if (node.op === 'rcall' && node.args[0] === 'contains' && node.args[2][0]?.op !== 'value')
      refuse(node, 'contains() takes a literal only.')
    if (node.op === '/' && !(node.args[1].op === 'value' && Number(node.args[1].args) !== 0)) {
      const message =
        'The divisor may be 0. The result is then Infinity, or NaN for 0 / 0, and every comparison with NaN is false.'
      inspection.warnings.push({ at: node.args[1].start, message })
    }
    for (const child of children(node)) walk(child, place)
  }

  function walkLoop(node: ASTNode & { op: 'rcall' }, place: Place): void {
    const [name, list, [variable, ...body]] = node.args
    if (place.looping) refuse(node, `${name}() is inside another loop: nested loops multiply.`)
    walk(list, { ...place, looping: true })
    if (variable?.op !== 'id') return
    if (isSource(variable.args) || constants.includes(variable.args))
      refuse(variable, `${variable.args} cannot name a loop variable.`)
    for (const part of body) walk(part, { looping: true, variable: variable.args })
  }

  function read(node: ASTNode, { source, path }: { source: Source; path: string[] }, place: Place): void {
    const [member] = path
    if (member === undefined) {
      if (!whole.includes(source)) return refuse(node, `Name what is read, as in ${source}.<member>.`)
    } else {
      const unknown = unknownMember(source, member)
      if (unknown !== undefined) refuse(node, unknown)
    }
    if (place.variable !== undefined && !readableInLoops.includes(source)) {
      const readable = [`'${place.variable}'`, ...readableInLoops, ...constants]
      const last = readable.length > 1 ? ` and ${readable.pop()}` : ''
      refuse(node, `A loop may read ${readable.join(', ')}${last}, not ${source} again.`)
    }
    const paths = inspection.reads.get(source) ?? []
    inspection.reads.set(source, [...paths, path])
  }

  /** Undefined when a node is not a member of a source. */
  function pathOf(node: ASTNode): { source: Source; path: string[] } | undefined {
    if (node.op === 'id') return isSource(node.args) ? { source: node.args, path: [] } : undefined
    if (node.op !== '.' && !(keys && node.op === '[]')) return undefined
    const step = node.op === '.' ? node.args[1] : literalText(node.args[1])
    const below = step === undefined ? undefined : pathOf(node.args[0])
    return step === undefined || below === undefined
      ? undefined
      : { source: below.source, path: [...below.path, step] }
  }

  /** A zone must be a literal, so that it is checked with the document, and outside loops: a lookup takes 7 µs, too much for each step. */
  function zone(node: ASTNode, [name, receiver, [argument]]: RCall, place: Place): void {
    if (argument === undefined) return
    const timeZone = literalText(argument)
    const problem =
      timeZone === undefined
        ? `${name}() takes the time zone as a literal only.`
        : (timeZoneProblem(timeZone) ??
          (place.variable && `${name}() with a time zone stands inside a loop.`))
    if (problem !== undefined) return refuse(argument, problem)
    const between = node.input.slice(receiver.end, argument.start)
    if (!/^[\s)]*\.\s*\w+\s*\(\s*$/.test(between))
      return refuse(node, `No comment can stand before ${name}().`)
    zoned.push(receiver.end + between.indexOf(name))
  }

  function refuseCall(node: ASTNode, name: string): void {
    const isKnown = ALLOWED_FUNCTIONS.includes(name)
    const which = isKnown ? ' with these arguments' : didYouMean(name, ALLOWED_FUNCTIONS)
    refuse(node, `Rules have no ${name}()${which}; they have ${ALLOWED_FUNCTIONS.join(', ')}.`)
  }

  function refuse(node: ASTNode, message: string): void {
    inspection.mistakes.push({ at: node.start, message })
  }
}

type RCall = Extract<ASTNode, { op: 'rcall' }>['args']

function literalText(node: ASTNode): string | undefined {
  return node.op === 'value' && typeof node.args === 'string' ? node.args : undefined
}

/** JS reads 30 February as 2 March and accepts other wrong dates: an author can foresee that, but not for a caller's text. */
function isTimeLiteral([name, [argument]]: [string, ASTNode[]]): boolean {
  if (name !== 'timestamp' && name !== 'duration') return true
  if (argument?.op !== 'value' || typeof argument.args !== 'string') return false
  if (name === 'timestamp' && !isTimestamp(argument.args)) return false
  try {
    evaluate(`${name}(${serialize(argument)})`)
    return true
  } catch {
    return false
  }
}
