// What a rule may say. An allow-list: rules run on every execution, and CEL as implemented can run for minutes
// (`matches` is a JS RegExp; nested loops, `split` and `join` multiply a caller's 100 KB) or read clocks of its own (time zones).
import { evaluate, serialize, type ASTNode } from '@marcbachmann/cel-js'
import { isTimestamp } from '../schemas/primitives.ts'
import { isSource, membersOf, type Source } from './facts.ts'

const FUNCTIONS = new Set(['has', 'size', 'timestamp', 'duration'])
/** The number of arguments of each. Times are read in UTC: the variants with a time zone are refused. */
const METHODS = new Map([
  ['size', 0],
  ['startsWith', 1],
  ['endsWith', 1],
  ['contains', 1],
  ...['getFullYear', 'getMonth', 'getDate', 'getDayOfWeek', 'getHours', 'getMinutes'].map(
    (name) => [name, 0] as const,
  ),
])
const LOOPS = new Set(['all', 'exists', 'exists_one', 'filter'])
const ALLOWED = [...new Set([...FUNCTIONS, ...METHODS.keys(), ...LOOPS])].join(', ')

export interface Finding {
  /** Offset into the expression. */
  readonly at: number
  readonly message: string
}

interface Inspection {
  readonly reads: Map<Source, Set<string>>
  readonly mistakes: Finding[]
  readonly warnings: Finding[]
}

/** Where a node stands: inside a loop no other may start, and a loop's body may not read the caller's data again. */
interface Place {
  readonly looping: boolean
  /** The loop's variable, in its body. */
  readonly variable?: string
}

/** Walks one parsed expression: what it reads of the transaction, and everything in it that is not allowed. */
export function inspect(ast: ASTNode, signals: ReadonlyMap<string, unknown>): Inspection {
  const inspection: Inspection = { reads: new Map(), mistakes: [], warnings: [] }
  walk(ast, { looping: false })
  return inspection

  function walk(node: ASTNode, place: Place): void {
    if (node.op === 'id' && isSource(node.args))
      refuse(node, `Name what is read, as in ${node.args}.<member>.`)
    if (node.op === '.' && node.args[0].op === 'id' && isSource(node.args[0].args))
      return read(node, node.args[0].args, node.args[1], place)
    if (node.op === 'call' && !FUNCTIONS.has(node.args[0])) return refuseCall(node, node.args[0])
    if (node.op === 'call' && !isTimeLiteral(node.args))
      refuse(node, `${node.args[0]}() takes a valid literal only.`)
    if (node.op === 'rcall' && LOOPS.has(node.args[0])) return walkLoop(node, place)
    if (node.op === 'rcall' && METHODS.get(node.args[0]) !== node.args[2].length)
      return refuseCall(node, node.args[0])
    // A caller's 25 KB sought in its 50 KB took V8 86 ms.
    if (node.op === 'rcall' && node.args[0] === 'contains' && node.args[2][0]?.op !== 'value')
      refuse(node, 'contains() takes a literal only.')
    if (node.op === '/' && node.args[1].op !== 'value') {
      const message = 'Divides by what may be 0: comparisons with NaN are all false.'
      inspection.warnings.push({ at: node.args[1].start, message })
    }
    for (const child of children(node)) walk(child, place)
  }

  function walkLoop(node: ASTNode & { op: 'rcall' }, place: Place): void {
    const [name, list, [variable, ...body]] = node.args
    if (place.looping) refuse(node, `${name}() stands inside another loop: nested loops multiply.`)
    walk(list, { ...place, looping: true })
    if (variable?.op !== 'id') return
    if (isSource(variable.args) || variable.args === 'now')
      refuse(variable, `${variable.args} cannot name a loop variable.`)
    for (const part of body) walk(part, { looping: true, variable: variable.args })
  }

  function read(node: ASTNode, source: Source, member: string, place: Place): void {
    if (source === 'signals') {
      if (!signals.has(member)) refuse(node, `Unknown signal '${member}'.`)
    } else {
      if (!membersOf(source).includes(member)) refuse(node, `${source} has no member '${member}'.`)
      if (place.variable !== undefined)
        refuse(node, `A loop may read '${place.variable}', signals and now, not ${source} again.`)
    }
    inspection.reads.set(source, (inspection.reads.get(source) ?? new Set()).add(member))
  }

  function refuseCall(node: ASTNode, name: string): void {
    refuse(node, `Rules have no ${name}() with these arguments; they have ${ALLOWED}.`)
  }

  function refuse(node: ASTNode, message: string): void {
    inspection.mistakes.push({ at: node.start, message })
  }
}

/** JS reads 30 February as 2 March and lets much else pass: an author can see that coming, in a caller's text nobody can. */
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

/** The nodes right below a node. */
export function children(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'value' || node.op === 'id') return []
  if (node.op === '.' || node.op === '.?') return [node.args[0]]
  if (node.op === 'call') return node.args[1]
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]]
  if (node.op === 'map') return node.args.flat()
  if (node.op === '!_' || node.op === '-_') return [node.args]
  return node.args
}
