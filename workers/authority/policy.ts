// Changes of policies (decisions §6, §7): a version that is proposed with its content, or one that an upgrade has loaded.
import { isObject, otherMembers } from '../../src/body.ts'
import { canonicalize, type Json } from '../../src/canonical.ts'
import { Failure, failures } from '../../src/errors.ts'
import { compilePolicy } from '../../src/policy/check.ts'
import { diffPolicies } from '../../src/policy/diff.ts'
import { PolicyError } from '../../src/policy/error.ts'
import { whereNoRuleApplies } from '../../src/policy/gap.ts'
import { byApproval } from '../../src/policy/order.ts'
import { isPolicyName, isPolicyVersion, type PolicyDocument } from '../../src/schemas/policy.ts'
import { sha256Hex } from '../../src/signing/sha256.ts'
import {
  approvePolicyVersion,
  readPolicyVersions,
  type StoredPolicyVersion,
} from '../../src/tables/policy-versions.ts'
import type { Advice, ChangeKind } from './change-kind.ts'

/** Names of our own paths below /policies: a policy of such a name could not be told from them. */
const RESERVED = ['pending-changes', 'in-effect', 'validate']
/** A document of 100 KB can hold thousands. */
const MISTAKES_SHOWN_MAX = 20

export const policyChanges: ChangeKind = {
  read(body, { name = '', version = '' }) {
    const others = otherMembers(body, ['reason', 'proposedContent'])
    if (others !== undefined) return others
    if (RESERVED.includes(name))
      return failures.invalidField(`policyId must not be ${name}: the name is reserved.`)
    const target = `${name}/${version}`
    if (!Object.hasOwn(body, 'proposedContent')) {
      // What is no name could be read as another version's target, and no PostgreSQL text holds a NUL.
      if (!isPolicyName(name) || !isPolicyVersion(version)) return failures.policyNotFound({ name, version })
      return { target, proposed: null }
    }
    const { proposedContent } = body
    if (!isObject(proposedContent)) return failures.invalidField('proposedContent must be a policy document.')
    const named = { policyId: name, policyVersion: version }
    for (const [member, value] of Object.entries(named)) {
      if (proposedContent[member] !== value)
        return failures.invalidField(`proposedContent.${member} must be ${value}, as in the path.`)
    }
    const compiled = compile(proposedContent)
    return compiled instanceof Failure ? compiled : { target, proposed: { ...compiled.document } as Json }
  },

  async examine({ target, proposed }, sql) {
    const [name = '', version = ''] = target.split('/')
    const versions = (await readPolicyVersions(sql)).filter((row) => row.name === name)
    const stored = versions.find((row) => row.version === version)
    if (stored === undefined && proposed === null) return failures.policyNotFound({ name, version })
    if (stored !== undefined && stored.approvedBy !== null)
      return failures.conflict(`Policy '${name}' version '${version}' is approved and never changes.`)
    const content = proposed === null ? (stored?.content ?? '') : canonicalize(proposed)
    if (stored !== undefined && stored.content !== content) return otherContent(name, version)
    const compiled = compile(JSON.parse(content))
    if (compiled instanceof Failure) return compiled
    return { proposed: { ...compiled.document } as Json, ...adviceOn(compiled, versions) }
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

type Compiled = ReturnType<typeof compilePolicy>

function compile(parsed: unknown): Compiled | Failure {
  try {
    return compilePolicy(parsed, 'proposedContent')
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    const lines = error.message.split('\n')
    const hidden = lines.length - MISTAKES_SHOWN_MAX
    const more = hidden > 0 ? [`and ${hidden} more mistakes.`] : []
    return failures.invalidField([...lines.slice(0, MISTAKES_SHOWN_MAX), ...more].join('\n'))
  }
}

function adviceOn({ document, warnings }: Compiled, versions: readonly StoredPolicyVersion[]): Advice {
  const gap = whereNoRuleApplies(document)
  const notes = gap === undefined ? [] : [`no rule applies, for example, where ${gap}: it is then rejected.`]
  const [newest] = versions.filter(({ approvedBy }) => approvedBy !== null).toSorted(byApproval)
  const before = newest && { version: newest.version, document: documentOf(newest) }
  return {
    warnings: [...warnings, ...notes],
    ...(before === undefined
      ? {}
      : { diff: { against: before.version, ...diffPolicies(before.document, document) } }),
  }
}

/** Approved content was compiled before it was approved. */
function documentOf({ content }: StoredPolicyVersion): PolicyDocument {
  return JSON.parse(content) as PolicyDocument
}
