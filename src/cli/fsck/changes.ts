// pending_changes (decisions §6, §7): the changes that humans have proposed and resolved, signed twice, and whether they
// came into effect.
import { canonicalize } from '../../formats/json/canonical.ts'
import { storedJson } from '../../store/postgres/json.ts'
import { sealedText } from '../../store/tables/sealed.ts'
import { list, members, mustHold, string } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { checkGovernanceChange } from '../../formats/artifacts/governance-change.ts'
import { checkOf, lazyMembers, sameTime, type SelectedRow, type Rule } from './check.ts'
import { withoutStepUpKeys, type Tools } from './tools.ts'

const audited = (types: string) => `EXISTS (
  SELECT FROM audit_events AS a
  WHERE a.type IN (${types}) AND a.occurred_at >= c.proposed_at AND strpos(a.body, c.change_id::text) > 0)`

const columns = {
  key: ['text', 'c.change_id'],
  kind: 'text',
  target: 'text',
  proposedAt: 'timestamptz',
  status: 'text',
  body: 'text',
  seal: 'text',
  resolvedBody: 'text?',
  resolvedSeal: 'text?',
  // Nonces of the step-ups that it consumed.
  nonces: ['text[]', 'ARRAY(SELECT n.nonce FROM step_up_nonces AS n WHERE n.change_id = c.change_id)'],
  // How many rows name it as the change that put them in effect, or out of it.
  effects: [
    'integer',
    `(SELECT count(*) FROM authority AS a WHERE c.change_id = a.began_by_change
        -- Rules end where the next ones come into effect, and a group where its next members do.
        OR (c.change_id = a.ended_by_change AND a.kind <> 'webhook-rules'
          AND NOT (a.kind = 'approver-group' AND ${storedJson('c.body')} #>> '{proposed,action}' = 'set')))::integer`,
  ],
  proposalAudited: ['boolean', audited(`'governance.proposed'`)],
  resolutionAudited: ['boolean', audited(`'governance.approved', 'governance.rejected'`)],
} as const

interface Change extends SelectedRow<typeof columns> {
  readonly proposed: () => Members
  readonly resolved: () => Members
}

const isResolved = ({ resolvedBody }: Change) => resolvedBody !== null

/** The rule, for resolved changes alone. */
function resolved(problem: string, holds: Rule<Change>[1]): Rule<Change> {
  return [problem, (item, tools) => !isResolved(item) || holds(item, tools)]
}

const CHANGES: readonly Rule<Change>[] = [
  ['does not verify as proposed', ({ body, seal }, tools) => verifies(body, seal, tools)],
  resolved('does not verify as resolved', ({ resolvedBody, resolvedSeal }, tools) =>
    verifies(resolvedBody ?? '', resolvedSeal ?? '', tools),
  ),
  [
    'columns differ from what was proposed',
    ({ key, kind, target, proposedAt, proposed }) => {
      const signed = proposed()
      const isOpen = signed['status'] === 'PENDING_APPROVAL'
      const named = signed['changeId'] === key && signed['kind'] === kind && signed['target'] === target
      return named && isOpen && sameTime(proposedAt, signed['proposedAt'])
    },
  ],
  [
    'status differs from the signed one',
    (item) => item.status === (isResolved(item) ? item.resolved()['status'] : 'PENDING_APPROVAL'),
  ],
  resolved('what was resolved differs from what was proposed', (item) => {
    const [before, after] = [item.proposed(), item.resolved()]
    return before['changeId'] === after['changeId'] && before['changeHash'] === after['changeHash']
  }),
  resolved('the nonce of the step-up is not consumed', (item) =>
    item.nonces.includes(
      string(members(members(item.resolved()['stepUpAuthorization'])['payload'])['nonce']),
    ),
  ),
  ['is APPROVED, but nothing took effect', ({ status, effects }) => status !== 'APPROVED' || effects > 0],
  [
    'is APPROVED, but a version that it retires is in effect',
    ({ kind, status, effects, proposed }) => {
      if (kind !== 'policy' || status !== 'APPROVED' || effects === 0) return true
      const { retires = [] } = members(proposed()['proposed'])
      return effects === 1 + list(retires).length
    },
  ],
  ['is in effect, but not APPROVED', ({ status, effects }) => status === 'APPROVED' || effects === 0],
  ['audit event governance.proposed is missing', ({ proposalAudited }) => proposalAudited],
  resolved('audit event of the resolution is missing', ({ resolutionAudited }) => resolutionAudited),
]

function verifies(body: string, seal: string, tools: Tools): true {
  const signed = lazyMembers(body, 'pending_changes')()
  const beside = lazyMembers(seal, 'pending_changes', 'seal')()
  if (Object.keys(beside).join() !== 'signature') throw new Error('seal has members that no signature covers')
  const evidence = JSON.parse(sealedText({ body: canonicalize(signed), seal })) as Members
  return mustHold(checkGovernanceChange(evidence, withoutStepUpKeys(tools).crypto))
}

function read(row: SelectedRow<typeof columns>): Change {
  return {
    ...row,
    proposed: lazyMembers(row.body, 'pending_changes'),
    resolved: lazyMembers(row.resolvedBody, 'pending_changes', 'resolved_body'),
  }
}

export const pendingChanges = checkOf({ table: 'pending_changes', columns, read, rules: CHANGES })
