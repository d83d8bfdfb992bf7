// This service as a witness of other logs, at the start: its keys and the file of the logs must be there (docs/handbook/log.md).
import type { Config } from '../../core/config/config.ts'
import { readWitnessKeys, witnessVkeys } from '../../core/signing/witness-keys.ts'
import { readWitnessedLogs } from '../../core/config/witnesses.ts'

export interface OpenedWitness {
  /** Its keys, for the policies of parties that trust it. */
  readonly vkeys: readonly string[]
  /** The origins of the logs that it witnesses. */
  readonly logs: readonly string[]
}

/**
 * @returns undefined without WITNESS_LOGS
 * @throws Error with a sentence for the operator where a key is missing, or the file cannot be read
 */
export function openWitness({ witness, signingKeyDir }: Config): OpenedWitness | undefined {
  if (witness === undefined) return undefined
  const origins = readWitnessedLogs(witness.logsFile).map(({ name }) => name)
  return { vkeys: witnessVkeys(witness.name, readWitnessKeys(signingKeyDir)), logs: [...new Set(origins)] }
}
