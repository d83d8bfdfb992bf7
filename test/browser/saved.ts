// An auditor has saved these of an execution, as files: its record and its service's keys.
import type { Algorithm } from '../../src/formats/schemas/signature.ts'
import { openSteps } from '../pipeline/thread.ts'
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
  const steps = openSteps(algorithms)
  return { record: await aRecord(steps, transaction), keySet: JSON.stringify(keySetOf(steps)) }
}
