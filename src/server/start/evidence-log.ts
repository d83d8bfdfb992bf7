// The evidence log at the start: its keys must be there, and it keeps the name that its first start gave it (docs/handbook/operating.md).
import { accessSync, constants, mkdirSync } from 'node:fs'
import type { Config } from '../../core/config/config.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { parseNote, type SignatureLine } from '../../formats/log/note.ts'
import { readOrigin } from '../../formats/log/origin.ts'
import { readSigningKeys } from '../../core/signing/keys.ts'
import {
  defaultLogOrigin,
  logKeyDir,
  logVerifierKey,
  readLogKeys,
  type LogKeys,
} from '../../core/signing/log-keys.ts'
import { latestCheckpoint } from '../../store/tables/log-checkpoints.ts'
import { openNewestLog } from '../../store/tables/log-state.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { EvidenceLog } from '../../core/threads/thread-messages.ts'

/**
 * @returns undefined with LOG=off
 * @throws Error with a sentence for the operator where a key is missing, where the stored log has other keys or another name than LOG_ORIGIN,
 *   and where DATA_DIR cannot be written
 */
export async function openEvidenceLog(
  { evidenceLog, signingKeyDir, receiptAlgorithms, dataDir }: Config,
  sql: Sql,
): Promise<EvidenceLog | undefined> {
  if (evidenceLog === undefined) return undefined
  const configured = evidenceLog.origin
  // Read first: where all keys are missing, the error must name the command that makes them all.
  readSigningKeys(signingKeyDir, receiptAlgorithms)
  const keys = readLogKeys(signingKeyDir)
  const origin = await openNewestLog(sql, configured ?? defaultLogOrigin(keys))
  const { name, number: log } = readOrigin(origin)!
  if (configured !== undefined && configured !== name)
    throw new Error(
      `LOG_ORIGIN is ${configured}, but the log of this database is ${origin}: signed as it is, its name cannot change. ` +
        `Set LOG_ORIGIN=${name}, or leave it out.`,
    )
  await refuseOtherKeys(sql, { keys, origin, folder: logKeyDir(signingKeyDir) })
  refuseUnwritable(dataDir)
  const number = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  number[0] = log
  return { name, number }
}

/** With the keys of another service, this one would sign checkpoints that no reader of this log can check. */
async function refuseOtherKeys(
  sql: Sql,
  { keys, origin, folder }: { readonly keys: LogKeys; readonly origin: string; readonly folder: string },
): Promise<void> {
  const last = await latestCheckpoint(sql)
  if (last === undefined) return
  const known = new Set(keys.publicKeys.map((key) => logVerifierKey(origin, key).keyId))
  const signers = signersOf(last.note)
  if (signers.length === 0 || signers.some(({ keyId }) => known.has(keyId))) return
  throw new Error(
    `None of the keys in ${folder} has signed the newest checkpoint of the log of this database, ${origin}. ` +
      'Set SIGNING_KEY_DIR to the folder with the keys of this service; for a lost key, its public key file is enough.',
  )
}

/** Empty for an unreadable note: the thread that reads it before it signs the next one then freezes the log. */
function signersOf(note: string): readonly SignatureLine[] {
  try {
    return parseNote(note).lines
  } catch {
    return []
  }
}

function refuseUnwritable(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.W_OK)
  } catch (cause) {
    throw new Error(
      `DATA_DIR cannot be written: ${errorText(cause)}. The newest checkpoint of the evidence log is kept there, which shows a database ` +
        'that was restored from a backup.',
      { cause },
    )
  }
}
