// The tools of the upstream server that a client sees: those that are pinned and have not changed since.
import type { Lock } from './lock.ts'
import { shownOf, toolHash, type Tool } from './tools.ts'
import type { Upstream } from './upstream.ts'

export interface Found {
  readonly tool: Tool
  readonly toolHash: string
  /** The tool as a client sees it. */
  readonly shown: Tool
}

export interface Catalogue {
  /** The tools to show, as they are now, sorted by name. */
  readonly shown: () => Promise<readonly Tool[]>
  /** A tool of the server, pinned or not; undefined where the server has no tool of that name. */
  readonly find: (name: string) => Promise<Found | undefined>
}

/**
 * @param options.reserved names of the gateway's own tools
 * @param options.onHidden called once for each tool that is not shown
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

  /** Drops the output schema unless the tool only reads: with it, clients refuse a reply without structured content, such as "waits for a human". */
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
    // The release lists the server's tools again and refuses an outdated definition.
    const tool = named(upstream.known()) ?? named((await upstream.list()).tools)
    return tool && { tool, toolHash: toolHash(tool), shown: forClient(tool) }
  }

  return { shown, find }
}
