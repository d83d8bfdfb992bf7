// A stored Execution Trust Record proves an intent if it is valid and has exactly the intent's authorization (decisions §8).
import type { Sql } from '../../store/postgres/sql.ts'
import type { Sealed } from '../../store/tables/sealed.ts'
import { readEvidence } from '../../store/tables/trust-records.ts'
import { judgeStored } from '../evidence/verification.ts'
import type { Crypto } from '../../formats/artifacts/evidence.ts'
import type { IntentEnd } from '../../formats/schemas/intent-states.ts'

/** The end that a stored record proves. */
interface ProvenEnd {
  readonly state: Exclude<IntentEnd, 'RESOLVED'>
  readonly trustRecordHash: string
}

type Proof =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'proven'; readonly end: ProvenEnd }

/** Reads what the stored record of an intent proves about its end. */
export async function proofOf(id: string, { sql, crypto }: { sql: Sql; crypto: Crypto }): Promise<Proof> {
  const [stored] = await readEvidence(sql, [{ id, owner: null }])
  return stored === undefined ? { kind: 'none' } : proofIn({ ...stored, id }, crypto)
}

/** The same as `proofOf` for a record that has been read. */
export function proofIn(
  stored: Sealed & { readonly id: string },
  crypto: Crypto,
): Exclude<Proof, { kind: 'none' }> {
  // Its authorization must also be the one that the claim has stored.
  const { trustRecordHash, problems } = judgeStored(stored, crypto)
  if (problems.length > 0) return { kind: 'refused', problem: problems.join('; ') }
  // A record that verifies can be read: its members have the types that the service signed.
  const record = JSON.parse(stored.body) as SignedRecord
  const state = endOf(record)
  if (state === undefined)
    return { kind: 'refused', problem: 'The trust record contradicts itself about the outcome' }
  return { kind: 'proven', end: { state, trustRecordHash } }
}

interface SignedRecord {
  readonly executions: readonly {
    readonly status: string
    readonly evidence: { readonly success: boolean }
  }[]
}

/** A record has one execution for its authorization, and its status must agree with its evidence. */
function endOf({ executions }: SignedRecord): ProvenEnd['state'] | undefined {
  const [execution, ...others] = executions
  if (execution === undefined || others.length > 0) return undefined
  const { status, evidence } = execution
  if (status === 'COMPLETED' && evidence.success) return 'FINALIZED'
  return status === 'FAILED' && !evidence.success ? 'ERRORED' : undefined
}
