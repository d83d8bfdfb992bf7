// tools.lock.json: the tools that humans have approved, each by its hash.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static } from 'typebox'
import { shapeOf } from '../core/json/shape.ts'
import { parseJsonText } from '../formats/json/text.ts'
import { closed, NonEmptyText } from '../formats/schemas/primitives.ts'

const PinnedTool = closed({
  toolHash: Type.String({ pattern: '^[0-9a-f]{64}$', description: '64 lowercase hex characters' }),
  /** The policy approves calls of the tool without a human. */
  readOnly: Type.Boolean({ description: 'true or false' }),
  /** A result with `isError` says that nothing was done; otherwise the outcome is in doubt. */
  errorsAreFinal: Type.Boolean({ description: 'true or false' }),
})
export type PinnedTool = Static<typeof PinnedTool>

const Lock = closed({
  policy: closed({ name: NonEmptyText, version: NonEmptyText }),
  tools: Type.Record(Type.String(), PinnedTool, { description: 'an object of pinned tools' }),
})
export type Lock = Static<typeof Lock>

export const LOCK = 'tools.lock.json'
const shape = shapeOf(Lock)

/**
 * @returns undefined where nothing is pinned yet
 * @throws Error with a sentence that names the file and the member
 */
export function readLock(folder: string): Lock | undefined {
  const file = join(folder, LOCK)
  if (!existsSync(file)) return undefined
  const shaped = shape(parseJsonText(readFileSync(file, 'utf8'), 8))
  if ('problem' in shaped) throw new Error(`${file}: ${shaped.problem}`)
  return shaped.value
}
