// Finds the outcome of a call in doubt with a tool of the server that only reads.
import type { Outcome, Release } from '../../clients/typescript/src/receiver/index.ts'
import { canonicalize, type Json } from '../formats/json/canonical.ts'
import { isObject } from '../formats/json/fields.ts'
import { parseJsonText } from '../formats/json/text.ts'
import { isSettled } from '../receivers/absence.ts'
import { filledBody } from '../receivers/template.ts'
import type { GatewayFile, ReadBack } from './config.ts'
import type { Lock } from './lock.ts'
import { toolHash } from './tools.ts'
import type { CallToolResult, Upstream } from './upstream.ts'

const DEPTH_MAX = 60

/** @throws Error with a sentence that names the member of the gateway's file */
export function assertReadBacks({ tools = {} }: Pick<GatewayFile, 'tools'>, lock: Lock): void {
  for (const [name, { readBack }] of Object.entries(tools))
    if (readBack !== undefined && pinnedAs(readBack.tool, lock)?.readOnly !== true)
      throw new Error(`tools.${name}.readBack.tool must be a tool that is pinned as one that only reads.`)
}

/**
 * Looks up the outcome of a release.
 * @param tools of the gateway's file
 * @returns undefined where the tool has no `readBack`, or its answer leaves the outcome open
 * @throws Error where the server does not answer, or its tool has changed
 */
export async function lookUp(
  release: Release,
  {
    upstream,
    lock,
    tools = {},
  }: {
    readonly upstream: Upstream
    readonly lock: Lock
    readonly tools: GatewayFile['tools'] | undefined
  },
): Promise<Outcome | undefined> {
  const way: ReadBack | undefined = Object.hasOwn(tools, release.target)
    ? tools[release.target]?.readBack
    : undefined
  if (way === undefined) return undefined
  const listed = await upstream.list()
  const tool = listed.tools.find(({ name }) => name === way.tool)
  if (tool === undefined || toolHash(tool) !== pinnedAs(way.tool, lock)?.toolHash)
    throw new Error(`The tool ${way.tool}, which reads back, has changed since it was pinned.`)
  const args = filledBody(way.arguments as Json, release) as { readonly [name: string]: Json }
  const answer = answerIn(await listed.call(way.tool, args))
  if (answer === undefined) return undefined
  if (holds(way.executed, answer)) return { executed: true, result: { readBack: { tool: way.tool, answer } } }
  // The server may still be working on a call that was given up.
  if (isSettled(release) && way.notExecuted !== undefined && holds(way.notExecuted, answer))
    return { executed: false, reason: `${way.tool} says that it did not happen.` }
  return undefined
}

const pinnedAs = (name: string, { tools }: Lock) => (Object.hasOwn(tools, name) ? tools[name] : undefined)

/** The structured content, or the JSON of the only text. An error proves nothing, because the lookup itself may have failed. */
function answerIn({ isError, structuredContent, content }: CallToolResult): Json | undefined {
  if (isError === true) return undefined
  if (structuredContent !== undefined) return structuredContent as Json
  const [block, another] = content
  if (block?.type !== 'text' || another !== undefined) return undefined
  try {
    return parseJsonText(block.text, DEPTH_MAX) as Json
  } catch {
    return undefined
  }
}

/** Whether the answer has each expected member with the expected value. */
function holds(expected: Readonly<Record<string, unknown>>, answer: Json): boolean {
  if (!isObject(answer)) return false
  return Object.entries(expected).every(
    ([name, value]) =>
      Object.hasOwn(answer, name) && canonicalize(answer[name] as Json) === canonicalize(value as Json),
  )
}
