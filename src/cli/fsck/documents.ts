// The documents that humans have put in effect (decisions §6): policies and webhook rules, each as its signed change says.
import { canonicalize } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { list, members, string } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { approvedChange } from './approved-change.ts'
import { lazyMembers, sameTime, tableCheck, type Rule } from './check.ts'

/** A document that a change has approved, or genesis. */
interface DocumentRow {
  readonly key: string
  /** The target of the change. */
  readonly target: string
  readonly content: string
  readonly contentHash: string
  readonly loadedAt: Date
  readonly approvedBy: string | null
  readonly approvedAt: Date | null
  readonly byChange: string | null
  /** As resolved; null where there is no such change. */
  readonly change: string | null
}

/** @param contentOf what of `proposed` became the content */
function documentRules(
  kind: string,
  contentOf: (proposed: Members) => Members = (proposed) => proposed,
): Rule<DocumentRow>[] {
  return [
    ['content does not match its hash', ({ content, contentHash }) => sha256Hex(content) === contentHash],
    [
      'is approved by genesis, but was not present at the first start',
      ({ approvedBy, approvedAt, loadedAt }, { genesisAt }) =>
        approvedBy !== 'genesis' ||
        (approvedAt !== null && sameTime(approvedAt, genesisAt) && sameTime(loadedAt, genesisAt)),
    ],
    [
      'is approved, but no change approved it',
      ({ approvedBy, byChange }) => (approvedBy !== null && approvedBy !== 'genesis') === (byChange !== null),
    ],
    [
      'differs from what the change approved',
      ({ target, content, approvedBy, approvedAt, byChange, change }) => {
        if (byChange === null) return true
        const { proposed, resolvedBy, resolvedAt } = approvedChange(change, kind, target)
        const isSame = canonicalize(contentOf(members(proposed))) === content && resolvedBy === approvedBy
        return isSame && approvedAt !== null && sameTime(approvedAt, resolvedAt)
      },
    ],
  ]
}

interface PolicyRow extends DocumentRow {
  readonly name: string
  readonly version: string
  readonly retiredBy: string | null
  readonly retiredAt: Date | null
  readonly retiredByChange: string | null
  readonly retirement: string | null
}

export const policyVersions = tableCheck<PolicyRow, PolicyRow & { document: () => Members }>({
  table: 'policy_versions',
  text: `
    SELECT p.name || '/' || p.version AS key, p.name || '/' || p.version AS target, p.name, p.version, p.content,
      p.content_hash AS "contentHash", p.loaded_at AS "loadedAt", p.approved_by AS "approvedBy",
      p.approved_at AS "approvedAt", p.approved_by_change AS "byChange", c.resolved_body AS change,
      p.retired_by AS "retiredBy", p.retired_at AS "retiredAt", p.retired_by_change AS "retiredByChange",
      r.resolved_body AS retirement
    FROM $table AS p LEFT JOIN pending_changes AS c ON c.change_id = p.approved_by_change
    LEFT JOIN pending_changes AS r ON r.change_id = p.retired_by_change`,
  read: (row) => ({ ...row, document: lazyMembers(row.content, 'policy_versions', 'content') }),
  rules: [
    ...documentRules('policy', withoutRetirement),
    [
      'retirement differs from what the changes say',
      ({ name, version, retiredBy, retiredAt, retiredByChange, retirement }) => {
        if (retiredAt === null || retiredByChange === null) return retiredBy === null && retiredAt === null
        const { target, proposed, resolvedBy, resolvedAt } = approvedChange(retirement, 'policy')
        const { action, retires = [] } = members(proposed)
        const isNamed =
          action === 'retire'
            ? target === `${name}/${version}`
            : string(target).startsWith(`${name}/`) && list(retires).includes(version)
        return isNamed && resolvedBy === retiredBy && sameTime(retiredAt, resolvedAt)
      },
    ],
    [
      'content is of another policy',
      ({ name, version, document }) => {
        const { policyId, policyVersion } = document()
        return policyId === name && policyVersion === version
      },
    ],
  ],
})

export const webhookRules = tableCheck<DocumentRow, DocumentRow & { document: () => Members }>({
  table: 'webhook_rules',
  text: `
    SELECT w.provider || '/' || w.version_id AS key, w.provider AS target, w.content, w.rules_hash AS "contentHash",
      w.loaded_at AS "loadedAt", w.approved_by AS "approvedBy", w.approved_at AS "approvedAt",
      w.approved_by_change AS "byChange", c.resolved_body AS change
    FROM $table AS w LEFT JOIN pending_changes AS c ON c.change_id = w.approved_by_change`,
  read: (row) => ({ ...row, document: lazyMembers(row.content, 'webhook_rules', 'content') }),
  rules: [
    ...documentRules('webhook-rules'),
    ['content is of another provider', ({ target, document }) => document()['provider'] === target],
  ],
})

/** Leaves out the versions that end with this one, which stand in the change alone. */
function withoutRetirement(proposed: Members): Members {
  const { retires: _, ...document } = proposed
  return document
}
