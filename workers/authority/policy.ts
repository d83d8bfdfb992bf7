// Changes of policies (decisions §6, §7): a version that is proposed with its content, or one that an upgrade has loaded.
import { canonicalize } from '../../src/core/json/canonical.ts'
import { Failure, failures } from '../../src/core/errors.ts'
import { diffPolicies } from '../../src/core/policy/diff.ts'
import { byApproval } from '../../src/core/policy/order.ts'
import { compiledOr400 } from '../../src/core/policy/posted.ts'
import { documentOf } from '../../src/core/policy/stored.ts'
import { isPolicyName, isPolicyVersion, type PolicyDocument } from '../../src/core/schemas/policy.ts'
import { PolicyProposalRead } from '../../src/core/schemas/policy-version.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import {
  approvePolicyVersion,
  readPolicyVersions,
  type StoredPolicyVersion,
} from '../../src/core/tables/policy-versions.ts'
import type { Advice, ChangeKind } from './change-kind.ts'

/** Names of our own paths below /policies: a policy of such a name could not be told from them. */
const RESERVED = ['pending-changes', 'in-effect', 'validate']

const proposalOf = bodyOf(PolicyProposalRead)

/** Null: the content that is loaded, until it is known to stand. */
export const policyChanges: ChangeKind<PolicyDocument | null> = {
  read(body, { name = '', version = '' }) {
    const proposal = proposalOf(body)
    if (proposal instanceof Failure) return proposal
    const { reason, proposedContent } = proposal
    if (RESERVED.includes(name))
      return failures.invalidField(`policyId must not be ${name}: the name is reserved.`)
    const target = `${name}/${version}`
    if (proposedContent === undefined) {
      // What is no name could be read as another version's target, and no PostgreSQL text holds a NUL.
      if (!isPolicyName(name) || !isPolicyVersion(version)) return failures.policyNotFound({ name, version })
      return { target, proposed: null, reason }
    }
    const named = { policyId: name, policyVersion: version }
    for (const [member, value] of Object.entries(named)) {
      if (proposedContent[member] !== value)
        return failures.invalidField(`proposedContent.${member} must be ${value}, as in the path.`)
    }
    const compiled = compiledOr400(proposedContent, 'proposedContent')
    if (compiled instanceof Failure) return compiled
    return { target, proposed: compiled.document, reason, warnings: compiled.warnings }
  },

  async examine({ target, proposed, warnings }, sql) {
    const [name = '', version = ''] = target.split('/')
    const versions = (await readPolicyVersions(sql)).filter((row) => row.name === name)
    const stored = versions.find((row) => row.version === version)
    if (stored === undefined && proposed === null) return failures.policyNotFound({ name, version })
    if (stored !== undefined && stored.approvedBy !== null)
      return failures.conflict(`Policy '${name}' version '${version}' is approved and never changes.`)
    const content = proposed === null ? (stored?.content ?? '') : canonicalize(proposed)
    if (stored !== undefined && stored.content !== content) return otherContent(name, version)
    if (proposed !== null && warnings !== undefined)
      return { proposed, warnings, ...changeFromNewest(proposed, versions) }
    const compiled = compiledOr400(JSON.parse(content), 'proposedContent')
    if (compiled instanceof Failure) return compiled
    const { document, warnings: found } = compiled
    return { proposed: document, warnings: found, ...changeFromNewest(document, versions) }
  },

  async apply({ target, proposed, changeId, resolvedBy, resolvedAt }, sql) {
    const [name = '', version = ''] = target.split('/')
    const content = canonicalize(proposed)
    const approved = await approvePolicyVersion(sql, {
      name,
      version,
      content,
      contentHash: sha256Hex(content),
      approvedBy: resolvedBy,
      approvedAt: resolvedAt,
      approvedByChange: changeId,
    })
    return approved ? undefined : otherContent(name, version)
  },
}

/** Shipped and proposed content would differ from the first day: the file has to change, or the version's number. */
function otherContent(name: string, version: string): Failure {
  return failures.conflict(
    `Policy '${name}' version '${version}' is loaded with other content than is proposed.`,
  )
}

/** Compares with the version that was approved last. */
function changeFromNewest(
  document: PolicyDocument,
  versions: readonly StoredPolicyVersion[],
): Pick<Advice, 'diff'> {
  const [newest] = versions.filter(({ approvedBy }) => approvedBy !== null).toSorted(byApproval)
  if (newest === undefined) return {}
  return { diff: { against: newest.version, ...diffPolicies(documentOf(newest), document) } }
}
