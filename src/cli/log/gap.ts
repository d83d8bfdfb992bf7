// Sentences about a reopened log and the one before it.
import { join } from 'node:path'
import { parsePrevious, type PreviousLog } from '../../formats/log/previous.ts'
import { readIfThere } from '../../core/files/read-if-there.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { itemsOf } from '../../formats/artifacts/evidence.ts'
import { isMembers } from '../../formats/json/members.ts'
import { parseEvidence } from '../../formats/verifier/parse.ts'
import { CannotCheck } from '../cannot-check.ts'

/** The sentence after such lines, where nothing else is wrong. */
export const NOTHING_ELSE = 'No problems except those disclosed above.'

/** The lines about a log that ended. */
export function describedGap({ previous, checkpoint, contradiction, entriesLost }: PreviousLog): string[] {
  const { origin, size, signedSize, frozen } = previous
  return [
    `${origin} is frozen: ${frozen}`,
    `The database has ${size} entries of it; the first ${signedSize} are unchanged since they were signed.`,
    checkpoint === null
      ? 'No signed checkpoint of it is known.'
      : `The newest signed checkpoint that is known is of ${named(checkpoint)} entries.`,
    ...(entriesLost === 0 ? [] : [`At least ${entriesLost} signed entries are lost.`]),
    ...(contradiction === null
      ? []
      : [`The stored log does not begin with the signed checkpoint of ${named(contradiction)} entries.`]),
  ]
}

/** The origin and size of a checkpoint. */
const named = (note: string): string => note.split('\n').slice(0, 2).join(' with ')

/**
 * Reads the first entry of a copied log: its statement about the log before it.
 * @param hash of the entry: the statement is in the description that the copy has beside it, `log.json`
 * @throws CannotCheck where the statement is missing
 */
export function gapOfCopy(folder: string, hash: string): string[] {
  return describedGap(previousOfCopy(folder, hash))
}

/** As `gapOfCopy`: the statement itself. */
export function previousOfCopy(folder: string, hash: string): PreviousLog {
  const statement = statementsIn(readIfThere(join(folder, 'log.json'))).find(
    (text) => sha256Hex(text) === hash,
  )
  const previous = statement === undefined ? undefined : parsePrevious(statement)
  if (previous !== undefined) return previous
  throw new CannotCheck(
    `The log follows another one. How that one ended, and what it lost, is in a statement with the SHA-256 ${hash}, which log.json of the copy ` +
      'does not have: export it again, or ask the operator for it.',
  )
}

/** None where the copy's description cannot be read: nothing else of it is needed. */
function statementsIn(description: string | undefined): string[] {
  if (description === undefined) return []
  try {
    const parsed = parseEvidence(description, 'log.json')
    return itemsOf(isMembers(parsed) ? parsed['logs'] : undefined).flatMap((log) =>
      isMembers(log) && typeof log['previous'] === 'string' ? [log['previous']] : [],
    )
  } catch {
    return []
  }
}
