// Checks by file modes who may write and read a folder of private keys. Links are followed, because mounted secrets are links.
import { statSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../files/read-if-there.ts'
import { shellWord } from '../../formats/text/text.ts'
import { REVOCATION_SUFFIX } from './revocation.ts'

const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
const GROUP_READS = 0o040
const OTHERS_READ = 0o004
/** In a folder with this bit only the owner of a file can replace it. */
const STICKY = 0o1000

/** Sentences, each with the command that corrects the mode. */
export interface KeyAccess {
  /** Keys that others can replace, or whose revocation they can undo: signatures of such a key prove nothing. */
  readonly writable: readonly string[]
  /** Modes that only cause a warning: mounted secrets often have them, and cannot have others. */
  readonly warnings: readonly string[]
}

/**
 * @param names names of the files of private keys and of revocations
 * @param shown name of the folder in the sentences, as a shell reads it: its path, or a variable for readers who must not learn the path
 */
export function keyAccess(dir: string, names: readonly string[], shown = shellWord(dir)): KeyAccess {
  const folder = ifThere(() => statSync(dir))
  if (folder === undefined || process.getuid === undefined) return { writable: [], warnings: [] }
  const files = names.flatMap((name) => {
    const stats = ifThere(() => statSync(join(dir, name)))
    return stats === undefined ? [] : [{ path: `${shown}/${name}`, stats }]
  })
  const writable = files
    .filter(({ stats }) => isWritable(stats))
    .map(({ path, stats }) => cannotStay(path, stats))
  const [readable] = files.filter(({ path, stats }) => !isRevocation(path) && isReadable(stats))
  const warnings =
    readable === undefined
      ? []
      : [
          `${readable.path} can be read by others (mode ${modeOf(readable.stats)}), who can sign with it. ` +
            `To mend it: chmod go-r ${shown}/*.private.pem`,
        ]
  if (!isWritable(folder)) return { writable, warnings }
  if ((folder.mode & STICKY) === 0) return { writable: [cannotStay(shown, folder), ...writable], warnings }
  const added = `Others can add keys to ${shown} (mode ${modeOf(folder)}). To mend it: chmod go-w ${shown}`
  return { writable, warnings: [added, ...warnings] }
}

function cannotStay(path: string, stats: Stats): string {
  const harm = isRevocation(path) ? 'take the revocation of the key back' : 'put another key there'
  return (
    `${path} can be written by others (mode ${modeOf(stats)}), who can ${harm}. ` +
    `To mend it: chmod go-w ${path}`
  )
}

/** Everybody may read a revocation, because it is published. */
function isRevocation(path: string): boolean {
  return path.endsWith(REVOCATION_SUFFIX)
}

function isWritable({ mode }: Stats): boolean {
  return (mode & (GROUP_WRITES | OTHERS_WRITE)) !== 0
}

/** A service that does not own the file may read it through its group: granting this is the group's purpose. */
function isReadable({ mode, uid }: Stats): boolean {
  return (mode & OTHERS_READ) !== 0 || ((mode & GROUP_READS) !== 0 && uid === process.getuid?.())
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}
