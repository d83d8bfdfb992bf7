// A pin: the tools as humans have approved them. A tool that is not pinned is not shown, and the policy refuses a changed tool until the next pin.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { replaceWholeFile } from '../core/files/whole-file.ts'
import type { GatewayFile } from './config.ts'
import { LOCK, readLock, type Lock, type PinnedTool } from './lock.ts'
import { casesOf, policyOf } from './policy.ts'
import { isReadOnly, toolHash, type Tool } from './tools.ts'

export interface Pinned {
  readonly lock: Lock
  /** The policy's document, for humans to propose and approve. */
  readonly policyFile: string
  /** The policy version of the previous pin, whose tools stay callable until it is retired; undefined for the first pin. */
  readonly versionBefore: string | undefined
}

/**
 * Writes `tools.lock.json`, and the next version of the policy with the cases that it must decide, beside the gateway's file.
 * @param tools that the server lists now
 */
export function writePin(gateway: GatewayFile, tools: readonly Tool[]): Pinned {
  const before = readLock(gateway.folder)
  const name = `mcp-${gateway.alias}`
  const version = before === undefined ? '1.0.0' : nextVersion(before.policy.version)
  const pinned = Object.fromEntries(
    tools
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((tool) => [tool.name, pinnedTool(tool, gateway.tools?.[tool.name])]),
  )
  const unknown = Object.keys(gateway.tools ?? {}).find((tool) => !Object.hasOwn(pinned, tool))
  if (unknown !== undefined)
    throw new Error(`The gateway's file names the tool ${unknown}, which the server lacks.`)
  const lock: Lock = { policy: { name, version }, tools: pinned }
  const policyFile = policyFileOf(gateway.folder, lock)
  const written = { alias: gateway.alias, ...lock }
  mkdirSync(join(policyFile, '..'), { recursive: true })
  writeFileSync(policyFile, stringify(policyOf(written), { lineWidth: 0 }))
  writeFileSync(join(policyFile, '..', 'cases.yaml'), stringify(casesOf(written), { lineWidth: 0 }))
  // Last, so that a crash before it leaves the previous pin.
  replaceWholeFile(join(gateway.folder, LOCK), `${JSON.stringify(lock, undefined, 2)}\n`, 0o644)
  return { lock, policyFile, versionBefore: before?.policy.version }
}

/** The file of a pin's policy, in a folder with the layout that `countersign policy test` takes. */
export const policyFileOf = (folder: string, { policy }: Lock) =>
  join(folder, 'policies', policy.name, policy.version, 'policy.yaml')

function pinnedTool(tool: Tool, decided: { readOnly?: boolean; errorsAreFinal?: boolean } = {}): PinnedTool {
  const readOnly = decided.readOnly ?? isReadOnly(tool)
  // A tool that only reads has changed nothing, even where it failed.
  return { toolHash: toolHash(tool), readOnly, errorsAreFinal: decided.errorsAreFinal ?? readOnly }
}

const nextVersion = (version: string) => `${Number(version.split('.')[0]) + 1}.0.0`
