// A log in files, as `countersign log export` and every other copy of a C2SP tlog-tiles log has them.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../formats/text/error-text.ts'
import { readCheckpoint, type Checkpoint } from '../../formats/log/checkpoint.ts'
import { tilePath } from '../../formats/log/tiles.ts'
import { CannotCheck } from '../cannot-check.ts'
import { LogFault, type LogSource } from '../fsck/log-source.ts'

/**
 * @throws CannotCheck where the folder has no checkpoint, and LogFault where its checkpoint is none
 */
export function openFolder(folder: string): LogSource {
  const note = readCheckpointFile(folder)
  const read = async (path: string) => {
    try {
      return await readFile(join(folder, path))
    } catch (error) {
      throw new CannotCheck(
        `${path} cannot be read: ${errorText(error)}. To complete the copy, export it again.`,
      )
    }
  }
  const { size } = parsed(note)
  if (size === 0) throw new LogFault('checkpoint', 'it is of no entries')
  return {
    size,
    async *checkpoints() {
      yield note
    },
    bundle: (n, width) => read(`tile/${tilePath({ level: 'entries', n, width })}`),
    tile: (tile) => read(`tile/${tilePath(tile)}`),
  }
}

function readCheckpointFile(folder: string): string {
  try {
    return readFileSync(join(folder, 'checkpoint'), 'utf8')
  } catch (error) {
    throw new CannotCheck(`${folder} has no checkpoint of a log: ${errorText(error)}.`)
  }
}

function parsed(note: string): Checkpoint {
  try {
    return readCheckpoint(note)
  } catch (error) {
    throw new LogFault('checkpoint', errorText(error))
  }
}
