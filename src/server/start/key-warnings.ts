// Warnings about folders of private keys that others can write or read: logged at the start, and computed again by GET /ready.
import { privateKeyAccess } from '../../core/signing/keys.ts'
import { logKeyDir } from '../../core/signing/log-keys.ts'
import { witnessKeyDir } from '../../core/signing/witness-keys.ts'

/** @param shown the variable that stands for the path in GET /ready, which is open */
export function keyWarnings(signingKeyDir: string, shown?: '"$SIGNING_KEY_DIR"'): string[] {
  return [(dir: string) => dir, logKeyDir, witnessKeyDir].flatMap((folderOf) => {
    const { writable, warnings } = privateKeyAccess(folderOf(signingKeyDir), shown && folderOf(shown))
    // A problem that a start refuses may have come up since.
    return [...writable, ...warnings]
  })
}
