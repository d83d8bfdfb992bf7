// What an auditor has saved of an execution, as files: its record and its service's keys.
import type { Algorithm } from '../../src/core/signing/keys.ts'
import { openRoad } from '../road/thread.ts'
import { aTransaction } from '../transactions.ts'
import { aRecord, keySetOf } from '../verifier/saved.ts'

export interface SavedFiles {
  readonly record: string
  readonly keySet: string
}

export async function savedFiles(
  algorithms: readonly Algorithm[],
  transaction: object = aTransaction(),
): Promise<SavedFiles> {
  const road = openRoad(algorithms)
  return { record: await aRecord(road, transaction), keySet: JSON.stringify(keySetOf(road)) }
}
