// Marks every await of a module (decisions §8: kill the process at each of them): what the crash tests see of the pipeline, without a line
// of it being written for them.
import { stripTypeScriptTypes } from 'node:module'
import { parse, type AnyNode } from 'acorn'
import type { Task, ThreadReplies } from '../../../src/core/threads/thread-messages.ts'

/** Where in its await a process may die: nothing begun, begun and not known how it ended, ended. */
export const moments = ['before', 'begun', 'after'] as const
export type Moment = (typeof moments)[number]

export interface Instrumented {
  /** JavaScript; calls the functions of `Marks`, which record.ts defines. */
  readonly text: string
  /** `<function>:<n>`, the nth await in a function, or `<function>:then<n>`: no line numbers, so that only a new one is a new name. */
  readonly awaits: readonly string[]
}

/** An instrumented module calls these, as globals. */
export interface Marks {
  /** Returns `name`. */
  __before(name: string): string
  /** Returns `promise`. */
  __begun(name: string, promise: unknown): unknown
  /** Returns `value`. */
  __after(name: string, value?: unknown): unknown
  /** Wraps the items of a `for await`, and returns them. */
  __items(name: string, items: unknown): unknown
  /** Wraps the callback of a `.then`. */
  __continued(name: string, continuation: (value: unknown) => unknown): (value: unknown) => unknown
  /** A worker thread runs its tasks by this. */
  __thread(run: RunTask): RunTask
}

type RunTask = (task: Task) => Promise<ThreadReplies>

/**
 * A wait that ends by time comes to other awaits on a slow machine than on a quick one: here it never ends.
 * @param limit name of a constant of the module, in milliseconds
 * @returns the source with that constant at Infinity
 */
export function withoutLimit(source: string, limit: string): string {
  const changed = source.replace(new RegExp(`^(const ${limit} = )[\\d_]+$`, 'm'), '$1Infinity')
  if (changed === source) throw new Error(`the module has no constant ${limit}`)
  return changed
}

interface Insertion {
  readonly at: number
  readonly text: string
}

/**
 * @param file the path that point names begin with
 * @param source TypeScript with erasable types
 */
export function instrument(file: string, source: string): Instrumented {
  const javascript = stripTypeScriptTypes(source)
  const awaits: string[] = []
  const insertions: Insertion[] = []
  const counts = new Map<string, number>()

  function nameOf(functions: readonly string[], prefix = ''): string {
    const scope = `${functions.join('.')}:${prefix}`
    const count = (counts.get(scope) ?? 0) + 1
    counts.set(scope, count)
    awaits.push(scope + String(count))
    return JSON.stringify(`${file}:${scope}${count}`)
  }

  function insert(at: number, text: string): void {
    insertions.push({ at, text })
  }

  function visit(node: AnyNode, functions: readonly string[]): void {
    // Nothing that is inserted begins with a parenthesis: without semicolons that would be a call of the line before.
    if (node.type === 'AwaitExpression') {
      const name = nameOf(functions)
      insert(node.start, `__after(__before(${name}), `)
      insert(node.start + 'await'.length, ` __begun(${name}, (`)
      insert(node.end, ')))')
    } else if (node.type === 'ForOfStatement' && node.await) {
      const name = nameOf(functions)
      if (node.body.type !== 'BlockStatement') throw new Error(`${file}: a for await without a block`)
      insert(node.right.start, `__items(${name}, (`)
      insert(node.right.end, '))')
      insert(node.body.start + 1, `__after(${name});`)
    } else if (node.type === 'CallExpression' && isThen(node.callee)) {
      const [continuation] = node.arguments
      const name = nameOf(functions, 'then')
      if (continuation === undefined) throw new Error(`${file}: a then without a continuation`)
      insert(continuation.start, `__continued(${name}, (`)
      insert(continuation.end, '))')
    } else if (node.type === 'ExportDefaultDeclaration' && file === 'workers/thread.ts') {
      insert(node.declaration.start, '__thread(')
      insert(node.declaration.end, ')')
    }
    for (const [child, name] of childrenOf(node))
      visit(child, name === undefined ? functions : [...functions, name])
  }

  visit(parse(javascript, { ecmaVersion: 'latest', sourceType: 'module' }), [])
  return { text: inserted(javascript, insertions), awaits }
}

function isThen(callee: AnyNode): boolean {
  return (
    callee.type === 'MemberExpression' &&
    callee.property.type === 'Identifier' &&
    callee.property.name === 'then'
  )
}

/** With the name that a child gives to what is in it, where it is a function and has one. */
function* childrenOf(node: AnyNode): Generator<[AnyNode, string | undefined]> {
  for (const value of Object.values(node) as unknown[])
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(child)) yield [child, isFunction(child) ? functionName(child, node) : undefined]
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

function isFunction(node: AnyNode): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)
}

/** Its own name, or that of the variable or member that it is the value of. */
function functionName(node: AnyNode, parent: AnyNode): string | undefined {
  const named =
    'id' in node && node.id
      ? node.id
      : parent.type === 'VariableDeclarator'
        ? parent.id
        : parent.type === 'Property' || parent.type === 'MethodDefinition'
          ? parent.key
          : undefined
  if (named?.type === 'Identifier') return named.name
  return named?.type === 'Literal' ? String(named.value) : undefined
}

/** Insertions at one place stand in the order in which they were asked for: those that close are all alike. */
function inserted(text: string, insertions: readonly Insertion[]): string {
  let result = ''
  let from = 0
  for (const { at, text: more } of insertions.toSorted((a, b) => a.at - b.at)) {
    result += text.slice(from, at) + more
    from = at
  }
  return result + text.slice(from)
}
