// approvals (decisions §7): signed by an enrolled key, and used up by an execution whose record holds it.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { findIntents } from '../../store/tables/execution-intents.ts'
import { readRecordBodies } from '../../store/tables/trust-records.ts'
import { instantMs } from '../../formats/artifacts/instant.ts'
import { members, string } from '../../formats/artifacts/evidence.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import { lazy, lazyMembers, tableCheck } from './check.ts'
import type { Tools } from './tools.ts'

interface Selected {
  readonly key: string
  /** The columns that repeat members of the payload. */
  readonly columns: Readonly<Record<string, string>>
  readonly parametersHash: string | null
  readonly requestHash: string | null
  readonly issuedAt: Date
  readonly expiresAt: Date
  readonly body: string
  readonly consumedBy: string | null
  readonly consumedAt: Date | null
  readonly audited: boolean
}

interface Row extends Selected {
  /** Whether the execution that consumed it has an intent. */
  readonly released: boolean
  /** Whether the trust record of that execution holds it; undefined where there is no such record. */
  readonly held: boolean | undefined
}

interface Item extends Row {
  readonly payload: () => Members
}

async function withExecutions(rows: readonly Selected[], { sql }: Tools): Promise<readonly Row[]> {
  const ids = [...new Set(rows.flatMap(({ consumedBy }) => consumedBy ?? []))]
  const released = await findIntents(sql, ids)
  const records = await readRecordBodies(sql, ids)
  return rows.map((row) => ({
    ...row,
    released: released.has(row.consumedBy ?? ''),
    held: records.get(row.consumedBy ?? '')?.includes(row.body),
  }))
}

export const approvals = tableCheck<Selected, Item, Row>({
  table: 'approvals',
  text: `
    SELECT a.approval_id AS key,
      json_build_object('approvalId', a.approval_id, 'nonce', a.nonce, 'approverId', a.approver_id, 'keyId', a.key_id,
        'capability', a.capability, 'target', a.target) AS columns,
      a.parameters_hash AS "parametersHash", a.request_hash AS "requestHash", a.issued_at AS "issuedAt", a.expires_at AS "expiresAt", a.body,
      a.consumed_by AS "consumedBy", a.consumed_at AS "consumedAt",
      EXISTS (SELECT FROM audit_events AS e WHERE e.type = 'approval.delivered' AND e.occurred_at = a.delivered_at
        AND strpos(e.body, to_json(a.approval_id)::text) > 0
        AND strpos(e.body, '"callerId":' || to_json(a.delivered_by)) > 0) AS audited
    FROM $table AS a`,
  complete: withExecutions,
  read: (row) => {
    const signed = lazyMembers(row.body, 'approvals')
    return { ...row, payload: lazy(() => members(signed()['payload'])) }
  },
  rules: [
    [
      "signature is not the approver's",
      ({ body, payload }, { crypto }) => {
        const { algorithm, signature, webauthn } = lazyMembers(body, 'approvals')()
        const { approverId, keyId } = payload()
        const carried = {
          algorithm: string(algorithm),
          keyId: `${string(approverId)}:${string(keyId)}`,
          value: string(signature),
          webauthn,
        }
        return crypto.verifySignature('approval', canonicalize(payload()), carried)
      },
    ],
    [
      'columns differ from the body',
      ({ columns, parametersHash, requestHash, issuedAt, expiresAt, payload }) => {
        const signed = payload()
        return (
          Object.entries(columns).every(([name, value]) => signed[name] === value) &&
          hashIn(signed['scope']) === parametersHash &&
          (signed['requestHash'] ?? null) === requestHash &&
          issuedAt.getTime() === instantMs(string(signed['issuedAt'])) &&
          expiresAt.getTime() === instantMs(string(signed['expiresAt']))
        )
      },
    ],
    [
      'consumed_by and consumed_at contradict each other',
      ({ consumedBy, consumedAt }) => (consumedBy === null) === (consumedAt === null),
    ],
    [
      'is consumed by an execution that was never released',
      ({ consumedBy, released }) => consumedBy === null || released,
    ],
    [
      'is not in the trust record of the execution that consumed it',
      ({ consumedBy, held }) => consumedBy === null || held !== false,
    ],
    ['audit event approval.delivered is missing', ({ audited }) => audited],
  ],
})

/** Null: its scope is limits. */
function hashIn(scope: Json | undefined): Json {
  return isMembers(scope) ? (scope['parametersHash'] ?? null) : null
}
