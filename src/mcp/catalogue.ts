// What a client sees of the server behind: the tools that are pinned and have not changed since.
import type { Lock } from './lock.ts'
import { shownOf, toolHash, type Tool } from './tools.ts'
import type { Upstream } from './upstream.ts'

export interface Found {
  readonly tool: Tool
  readonly toolHash: string
  /** As a client is shown it. */
  readonly shown: Tool
}

export interface Catalogue {
  /** The tools to show, by name, as they are now. */
  readonly shown: () => Promise<readonly Tool[]>
  /** A tool of the server, pinned or not; undefined where it has none of that name. */
  readonly find: (name: string) => Promise<Found | undefined>
}

/**
 * @param options.reserved names that the gateway's own tools have
 * @param options.onHidden is told once of each tool that is not shown
 */
export function openCatalogue(
  upstream: Upstream,
  {
    lock,
    reserved,
    onHidden,
  }: {
    readonly lock: Lock
    readonly reserved: readonly string[]
    readonly onHidden: (sentence: string) => void
  },
): Catalogue {
  const told = new Set<string>()

  function whyHidden(tool: Tool): string | undefined {
    const pinned = Object.hasOwn(lock.tools, tool.name) ? lock.tools[tool.name] : undefined
    if (reserved.includes(tool.name)) return 'the gateway has a tool of that name'
    if (pinned === undefined) return 'it is not pinned'
    return pinned.toolHash === toolHash(tool) ? undefined : 'it has changed since it was pinned'
  }

  /** A reply that a call waits for a human has no structured content, and clients take one without it only as an error where there is an output schema. */
  function forClient(tool: Tool): Tool {
    const { outputSchema, ...rest } = shownOf(tool)
    return outputSchema !== undefined && lock.tools[tool.name]?.readOnly === true
      ? { ...rest, outputSchema }
      : rest
  }

  async function shown(): Promise<Tool[]> {
    const { tools } = await upstream.list()
    return tools
      .filter((tool) => {
        const why = whyHidden(tool)
        if (why !== undefined && !told.has(tool.name)) onHidden(`The tool ${tool.name} is hidden: ${why}.`)
        if (why !== undefined) told.add(tool.name)
        return why === undefined
      })
      .map(forClient)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  }

  async function find(name: string) {
    const named = (tools: readonly Tool[] | undefined) => tools?.find((tool) => tool.name === name)
    // The release asks the server once more: a definition that is out of date is refused there.
    const tool = named(upstream.known()) ?? named((await upstream.list()).tools)
    return tool && { tool, toolHash: toolHash(tool), shown: forClient(tool) }
  }

  return { shown, find }
}
