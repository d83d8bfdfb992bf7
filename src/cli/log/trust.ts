// The signers that a reader of the log trusts for its checkpoints.
import { readFileSync } from 'node:fs'
import { errorText } from '../../formats/text/error-text.ts'
import type { OpenedCheckpoint } from '../../formats/log/checkpoint.ts'
import { noteCrypto } from '../../core/signing/log-keys.ts'
import { openTrusted, readLogTrust } from '../../formats/verifier/log-trust.ts'
import { CannotCheck } from '../cannot-check.ts'

/**
 * Reads a checkpoint, and throws where the trusted signers have not signed it.
 * @param options.quorum false: witnesses need not have cosigned it, as one from before the first witness
 */
export type CheckpointOpener = (note: string, options?: { readonly quorum?: boolean }) => OpenedCheckpoint

/** @param file a saved log description or a C2SP tlog-policy */
export function checkpointOpener(file: string): CheckpointOpener {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotCheck(`${file} cannot be read: ${errorText(error)}.`)
  }
  return trusting(text)
}

/** @param given text of such a file, or a description as an object */
export function trusting(given: unknown): CheckpointOpener {
  const trust = readLogTrust(given, noteCrypto.sha256)
  const withoutQuorum = { ...trust, policy: { ...trust.policy, quorum: 'none' } } as const
  return (note, { quorum = true } = {}) => openTrusted(note, quorum ? trust : withoutQuorum, noteCrypto)
}
