// What a reopened log says of the one before it, in sentences.
import type { PreviousLog } from '../../core/log/previous.ts'

/** A line each. */
export function describedGap({ previous, checkpoint, contradiction, entriesLost }: PreviousLog): string[] {
  const { origin, size, signedSize, frozen } = previous
  return [
    `${origin} is frozen: ${frozen}`,
    `The database has ${size} entries of it, of which the first ${signedSize} stay as they are signed.`,
    checkpoint === null
      ? 'No signed checkpoint of it is known.'
      : `The newest signed checkpoint that is known is of ${named(checkpoint)} entries.`,
    ...(entriesLost === 0 ? [] : [`At least ${entriesLost} signed entries are lost.`]),
    ...(contradiction === null
      ? []
      : [`The stored log does not begin with the signed checkpoint of ${named(contradiction)} entries.`]),
  ]
}

/** Its origin and size. */
const named = (note: string): string => note.split('\n').slice(0, 2).join(' with ')
