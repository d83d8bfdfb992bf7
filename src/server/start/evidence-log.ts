// The evidence log at the start: its keys must be there, and it keeps the name that its first start gave it (docs/handbook/operating.md).
import type { Config } from '../../core/config.ts'
import { readSigningKeys } from '../../core/signing/keys.ts'
import { defaultLogOrigin, readLogKeys } from '../../core/signing/log-keys.ts'
import { openNewestLog } from '../../core/tables/log-state.ts'
import type { Sql } from '../../core/postgres/sql.ts'
import type { EvidenceLog } from '../../core/thread-messages.ts'

/**
 * @returns undefined with LOG=off
 * @throws Error with a sentence for the operator where a key is missing, or LOG_ORIGIN is not the name of the log that is there
 */
export async function openEvidenceLog(
  { evidenceLog, signingKeyDir, receiptAlgorithms }: Config,
  sql: Sql,
): Promise<EvidenceLog | undefined> {
  if (evidenceLog === undefined) return undefined
  const configured = evidenceLog.origin
  // Where no key is there, the command to name is the one that makes them all.
  readSigningKeys(signingKeyDir, receiptAlgorithms)
  const keys = readLogKeys(signingKeyDir)
  const origin = await openNewestLog(sql, configured ?? defaultLogOrigin(keys))
  const [, name = '', log] = /^(.*)\/log\/(\d+)$/.exec(origin) ?? []
  if (configured !== undefined && configured !== name)
    throw new Error(
      `LOG_ORIGIN is ${configured}, but the log of this database is ${origin}: signed as it is, its name cannot change. ` +
        `Set LOG_ORIGIN=${name}, or leave it out.`,
    )
  const number = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  number[0] = Number(log)
  return { name, number }
}
