// Folders of private keys that others can write or read: said at the start, and by GET /ready as they are then.
import { privateKeyAccess } from '../../core/signing/keys.ts'
import { logKeyDir } from '../../core/signing/log-keys.ts'
import { witnessKeyDir } from '../../core/signing/witness-keys.ts'

/** @param shown GET /ready is open, and gives a variable in place of the path */
export function keyWarnings(signingKeyDir: string, shown?: '"$SIGNING_KEY_DIR"'): string[] {
  return [(dir: string) => dir, logKeyDir, witnessKeyDir].flatMap((folderOf) => {
    const { writable, warnings } = privateKeyAccess(folderOf(signingKeyDir), shown && folderOf(shown))
    // A problem that a start refuses may have come up since.
    return [...writable, ...warnings]
  })
}
