// `{ by: approval, quorum }`: that as many distinct humans approved this very action (decisions §7). What it finds is used up by the
// execution that it releases, in the same commit.
import { Canonical, type Json } from '../../src/core/json/canonical.ts'
import type { SignalVerifier } from '../../src/core/schemas/policy.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import { APPROVERS_IN_EFFECT } from '../../src/core/tables/approvers.ts'
import { readUsableApprovals, type UsableApproval } from '../../src/core/tables/approvals.ts'
import { scopeCovers } from '../../src/core/verifier/scope.ts'
import type { SignalCheck, StateVerifier } from './verifier.ts'

type Approval = Extract<SignalVerifier, { by: 'approval' }>

export const approval: StateVerifier<Approval> = {
  when: 'with the claim',
  locks: ({ accepted: { transaction } }) => [
    { key: JSON.stringify(['approval', transaction.intent.action, transaction.intent.target]) },
    APPROVERS_IN_EFFECT,
  ],

  async read(check, { sql, taken, approvers }) {
    // Declared false: it claims no approval, so it uses none up.
    if (check.declared !== true) return { value: false }
    const { intent } = check.accepted.transaction
    const usable = await readUsableApprovals(sql, {
      capability: intent.action,
      target: intent.target,
      parametersHash: sha256Hex(check.accepted.canonical.parameters.text),
      at: check.now.toISOString(),
    })
    const chosen = choose(
      usable.filter((row) => !taken.has(row.approvalId)),
      check,
    )
    if (chosen.length < check.verifier.quorum) return { value: false }
    for (const { approver } of chosen) approvers.learn(approver)
    return {
      value: true,
      evidence: { approvals: chosen.map(({ body }) => new Canonical(body)) },
      consumes: chosen.map(({ approvalId, approver }) => ({ approvalId, approverId: approver.approverId })),
    }
  },
}

/** The first of each human, as many as the quorum asks for; never of whoever proposed or submitted it. */
function choose(
  usable: readonly UsableApproval[],
  { accepted, verifier }: SignalCheck<Approval>,
): UsableApproval[] {
  const { authority, intent } = accepted.transaction
  const involved = new Set([authority.principalId, accepted.request.caller.callerId])
  const byApprover = new Map<string, UsableApproval>()
  for (const row of usable) {
    const { approverId } = row.approver
    if (byApprover.has(approverId) || involved.has(approverId)) continue
    const { payload } = JSON.parse(row.body) as { payload: { version: number; scope: Json } }
    // Version 2 counts for the execution that its request asked for, and for no other one.
    if (payload.version !== 1) continue
    if (scopeCovers(payload.scope, intent.parameters as Json, sha256Hex)) byApprover.set(approverId, row)
  }
  return [...byApprover.values()].slice(0, verifier.quorum)
}
