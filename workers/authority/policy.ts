// Changes of policies (decisions §6, §7, §12): a version that is proposed with its content, one that an upgrade has loaded, and the end of
// versions that were approved.
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { diffPolicies, outdatedReasons } from '../../src/core/policy/diff.ts'
import { unmetQuorums } from '../../src/core/policy/groups.ts'
import { byApproval, byNameAndVersion, standingOf, documentOf } from '../../src/core/policy/versions.ts'
import { compiledOr400 } from '../../src/core/policy/check.ts'
import { isPolicyName, isPolicyVersion, type PolicyDocument } from '../../src/formats/schemas/policy.ts'
import { PolicyProposalRead } from '../../src/formats/schemas/policy-version.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { begin, end, type Act } from '../../src/store/tables/authority.ts'
import { readPolicyVersions, type StoredPolicyVersion } from '../../src/store/tables/policy-versions.ts'
import type { ChangeKind } from './change-kind.ts'
import { readSigners } from './signers.ts'

/** Names of our own paths below /policies: a policy of such a name could not be told apart from them. */
const RESERVED = ['pending-changes', 'in-effect', 'validate']

interface Retirement {
  readonly action: 'retire'
  readonly policyId: string
  readonly policyVersion: string
}

interface Retiring {
  /** Versions that end by the same change; left out where none do. */
  readonly retires?: readonly string[]
}

/** As a checker is shown it: the whole document, and beside it the versions that end with it. A document has no member `retires` or `action`. */
type Approval = PolicyDocument & Retiring

/** A proposal to approve the loaded content, before that content is found. */
type LoadedApproval = Retiring & { readonly action: 'approve the loaded content' }

type PolicyChange = Approval | LoadedApproval | Retirement

const proposalOf = bodyOf(PolicyProposalRead)

export const policyChanges: ChangeKind<PolicyChange> = {
  read(body, { name = '', version = '' }) {
    const proposal = proposalOf(body)
    if (proposal instanceof Failure) return proposal
    const { action, proposedContent, retires, ...said } = proposal
    if (RESERVED.includes(name))
      return failures.invalidField(`policyId must not be ${name}: the name is reserved.`)
    const target = `${name}/${version}`
    const isNamed = isPolicyName(name) && isPolicyVersion(version)
    // A text that is no name could be read as another version's target, and no PostgreSQL text holds a NUL.
    if (proposedContent === undefined && !isNamed) return failures.policyNotFound({ name, version })
    if (action === 'retire') {
      for (const [member, value] of Object.entries({ proposedContent, retires }))
        if (value !== undefined)
          return failures.invalidField(`${member} must be left out where action is retire.`)
      return { ...said, target, proposed: { action, policyId: name, policyVersion: version } }
    }
    if (retires?.includes(version))
      return failures.invalidField(`retires must not name ${version}, which is the version that is proposed.`)
    const retiring = retires === undefined ? {} : { retires }
    if (proposedContent === undefined)
      return { ...said, target, proposed: { action: 'approve the loaded content', ...retiring } }
    const named = { policyId: name, policyVersion: version }
    for (const [member, value] of Object.entries(named)) {
      if (proposedContent[member] !== value)
        return failures.invalidField(`proposedContent.${member} must be ${value}, as in the path.`)
    }
    const compiled = compiledOr400(proposedContent, 'proposedContent')
    if (compiled instanceof Failure) return compiled
    const { document, warnings } = compiled
    return { ...said, target, proposed: { ...document, ...retiring }, warnings }
  },

  async examine({ target, proposed, warnings }, sql) {
    const all = await readPolicyVersions(sql)
    const [name = '', version = ''] = target.split('/')
    const versions = all.filter((row) => row.name === name)
    const stored = versions.find((row) => row.version === version)
    if ('action' in proposed && proposed.action === 'retire')
      return (
        unretirable(versions, { name, version }) ?? {
          proposed,
          warnings: [
            ...ungoverned(all, name, [version]),
            ...elsewhere(all, name, stored === undefined ? [] : documentOf(stored).capabilities),
          ],
        }
      )
    if (stored === undefined && 'action' in proposed) return failures.policyNotFound({ name, version })
    if (stored !== undefined && standingOf(stored) !== 'LOADED') return unchangeable(stored)
    const { retires = [], ...rest } = proposed
    for (const one of retires) {
      const refused = unretirable(versions, { name, version: one })
      if (refused !== undefined) return refused
    }
    const content = 'action' in rest ? (stored?.content ?? '') : canonicalize(rest)
    if (stored !== undefined && stored.content !== content) return otherContent(name, version)
    // A posted document has been compiled already, outside this transaction.
    const compiled =
      warnings === undefined ? compiledOr400(JSON.parse(content), 'proposedContent') : undefined
    if (compiled instanceof Failure) return compiled
    const document = compiled?.document ?? (rest as PolicyDocument)
    const newest = newestOf(versions)
    return {
      proposed: retires.length === 0 ? document : { ...document, retires },
      warnings: [
        ...(compiled?.warnings ?? warnings ?? []),
        ...staying(versions, retires),
        ...ungoverned(all, name, retires, document),
        ...elsewhere(all, name, document.capabilities),
        ...(newest === undefined ? [] : outdatedReasons(documentOf(newest), document)),
        ...(await unmet(document, sql)),
      ],
      ...(newest === undefined
        ? {}
        : { diff: { against: newest.version, ...diffPolicies(documentOf(newest), document) } }),
    }
  },

  async apply(change, sql) {
    const { target, proposed } = change
    const [name = '', version = ''] = target.split('/')
    if ('action' in proposed) return retire(sql, name, { ...change, versions: [version] })
    if (!(await begin(sql, 'policy', change))) return otherContent(name, version)
    return retire(sql, name, { ...change, versions: proposed.retires ?? [] })
  },
}

/** Ends versions, all or none of them: a 409 undoes the approval of their successor too. */
async function retire(
  sql: Sql,
  name: string,
  act: Act & { readonly versions: readonly string[] },
): Promise<Failure | undefined> {
  const { versions } = act
  if (versions.length === 0) return undefined
  const targets = versions.map((version) => `${name}/${version}`)
  const ended = (await end(sql, 'policy', { ...act, targets })).map(({ target }) => target)
  if (ended.length === versions.length) return undefined
  const stored = (await readPolicyVersions(sql)).filter((one) => one.name === name)
  // Versions that this transaction has just retired are no contradiction.
  return versions
    .filter((version) => !ended.includes(`${name}/${version}`))
    .map((version) => unretirable(stored, { name, version }))
    .find((failure) => failure !== undefined)
}

/** Why a version cannot be retired: it is not known, not approved, or retired already. */
function unretirable(
  versions: readonly StoredPolicyVersion[],
  { name, version }: { readonly name: string; readonly version: string },
): Failure | undefined {
  const stored = versions.find((row) => row.version === version)
  if (stored === undefined) return failures.policyNotFound({ name, version })
  const named = `Policy '${name}' version '${version}'`
  const standing = standingOf(stored)
  if (standing === 'LOADED') return failures.conflict(`${named} is not approved, so it cannot be retired.`)
  return standing === 'RETIRED' ? failures.conflict(`${named} is retired already.`) : undefined
}

function unchangeable(row: StoredPolicyVersion): Failure {
  const standing = standingOf(row) === 'RETIRED' ? 'retired' : 'approved'
  return failures.conflict(`Policy '${row.name}' version '${row.version}' is ${standing} and never changes.`)
}

/** Shipped and proposed content would differ from the first day: the file has to change, or the version's number. */
function otherContent(name: string, version: string): Failure {
  return failures.conflict(
    `Policy '${name}' version '${version}' is loaded with other content than is proposed.`,
  )
}

/** A stricter version has no effect while callers may name an older one. */
function staying(versions: readonly StoredPolicyVersion[], retires: readonly string[]): string[] {
  const others = versions
    .filter((row) => standingOf(row) === 'APPROVED' && !retires.includes(row.version))
    .toSorted(byNameAndVersion)
    .map(({ version }) => version)
  if (others.length === 0) return []
  return [
    `Callers may go on naming ${others.join(', ')}, which stay${others.length === 1 ? 's' : ''} in effect: the same change can retire ${others.length === 1 ? 'it' : 'them'}.`,
  ]
}

/** Actions that no version of any policy lets through any more. */
function ungoverned(
  all: readonly StoredPolicyVersion[],
  name: string,
  retires: readonly string[],
  successor?: PolicyDocument,
): string[] {
  const isEnding = (row: StoredPolicyVersion) => row.name === name && retires.includes(row.version)
  const ending = all.filter(isEnding).flatMap((row) => documentOf(row).capabilities)
  const others = all
    .filter((row) => standingOf(row) === 'APPROVED' && !isEnding(row))
    .flatMap((row) => documentOf(row).capabilities)
  const left = new Set([...others, ...(successor?.capabilities ?? [])])
  return [...new Set(ending)]
    .filter((capability) => !left.has(capability))
    .map((capability) => `No version in effect governs ${capability} any more.`)
}

/** The caller names the policy, and may name another one for the same action in the place of this one. */
function elsewhere(
  all: readonly StoredPolicyVersion[],
  name: string,
  capabilities: readonly string[],
): string[] {
  const others = all
    .filter((row) => row.name !== name && standingOf(row) === 'APPROVED')
    .toSorted(byNameAndVersion)
  return capabilities.flatMap((capability) => {
    const named = others
      .filter((row) => documentOf(row).capabilities.includes(capability))
      .map((row) => `'${row.name}' ${row.version}`)
    if (named.length === 0) return []
    return [`For ${capability} callers may name ${named.join(', ')} in the place of this policy.`]
  })
}

/** Groups may be set, and approvers enrolled, by another change, before or after this one. */
async function unmet(document: PolicyDocument, sql: Sql): Promise<string[]> {
  return unmetQuorums(document, await readSigners(sql)).map(({ sentence }) => sentence)
}

/** The version in effect that was approved last: a proposal is compared with it. */
function newestOf(versions: readonly StoredPolicyVersion[]): StoredPolicyVersion | undefined {
  const approved = versions.filter((row) => standingOf(row) !== 'LOADED').toSorted(byApproval)
  return approved.find((row) => standingOf(row) === 'APPROVED') ?? approved[0]
}
