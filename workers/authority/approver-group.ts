// Changes of groups of approvers: one human proposes the members of a group, or to remove it, and another approves it.
import type { Static } from 'typebox'
import { diffDocuments } from '../../src/core/cel/diff.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { unmetQuorums, type Signers } from '../../src/core/policy/groups.ts'
import { documentOf, standingOf } from '../../src/core/policy/versions.ts'
import { ApproverGroupProposal } from '../../src/formats/schemas/approver-group.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { readApproverGroups, type ApproverGroupRow } from '../../src/store/tables/approver-groups.ts'
import { timeAfterUse } from '../../src/store/tables/approvers.ts'
import { begin, end } from '../../src/store/tables/authority.ts'
import { readPolicyVersions } from '../../src/store/tables/policy-versions.ts'
import type { ChangeKind } from './change-kind.ts'
import { readSigners } from './signers.ts'

interface SetMembers {
  readonly action: 'set'
  readonly group: string
  /** Sorted: two lists of the same approvers are the same group. */
  readonly members: readonly string[]
}

interface Remove {
  readonly action: 'remove'
  readonly group: string
}

const proposalOf = bodyOf(ApproverGroupProposal)

export const approverGroupChanges: ChangeKind<SetMembers | Remove> = {
  read(body) {
    const proposal = proposalOf(body)
    if (proposal instanceof Failure) return proposal
    return { target: proposal.group, proposed: proposedBy(proposal), reason: proposal.reason }
  },

  async contradiction(change, sql) {
    const standing = await groupIn(sql, change.group)
    if (change.action === 'remove')
      return standing === undefined ? failures.conflict(`There is no group ${change.group}.`) : undefined
    const isSame = standing?.members.join(' ') === change.members.join(' ')
    return isSame ? failures.conflict(`The group ${change.group} has these members already.`) : undefined
  },

  async examine({ proposed }, sql) {
    const standing = await groupIn(sql, proposed.group)
    const signers = await readSigners(sql)
    const warnings = [
      ...(proposed.action === 'set' ? withoutKey(proposed.members, signers) : []),
      ...(await unmetBy(proposed, { signers, sql })),
    ]
    if (standing === undefined) return { proposed, warnings }
    const [before, after] = [standing.members, proposed.action === 'set' ? proposed.members : []]
    const diff = diffDocuments(placesOf(before), placesOf(after))
    return { proposed, warnings, diff: { against: standing.approvedByChange, ...diff } }
  },

  async apply(change, sql) {
    const { target, proposed } = change
    const standing = await groupIn(sql, target)
    // Takes the lock that executions hold, so that none of them rests on a membership that ends here.
    const at = await timeAfterUse(sql, { approverIds: standing?.members ?? [] })
    const ended = await end(sql, 'approver-group', { ...change, at, targets: [target] })
    const isApplied =
      proposed.action === 'remove' ? ended.length === 1 : await begin(sql, 'approver-group', change)
    return isApplied ? undefined : failures.conflict(`The group ${target} has been changed meanwhile.`)
  },
}

function proposedBy(proposal: Static<typeof ApproverGroupProposal>): SetMembers | Remove {
  const { action, group } = proposal
  return action === 'remove' ? { action, group } : { action, group, members: proposal.members.toSorted() }
}

async function groupIn(sql: Sql, group: string): Promise<ApproverGroupRow | undefined> {
  return (await readApproverGroups(sql)).find((row) => row.group === group)
}

/** A checker sees each member that comes or goes as a separate line. */
function placesOf(members: readonly string[]) {
  return { places: { members: Object.fromEntries(members.map((member) => [member, 'member'])) }, rules: [] }
}

/** Members without a key; another change may enrol them. */
function withoutKey(members: readonly string[], { enrolled }: Signers): string[] {
  return members
    .filter((member) => !enrolled.has(member))
    .map((member) => `No approver ${member} has a key in effect.`)
}

/** Policies in effect that ask for more approvals than there are members who can sign once this is in effect. */
async function unmetBy(
  change: SetMembers | Remove,
  { signers, sql }: { readonly signers: Signers; readonly sql: Sql },
): Promise<string[]> {
  const groups = new Map(signers.membersOf)
  if (change.action === 'set') groups.set(change.group, change.members)
  else groups.delete(change.group)
  const versions = (await readPolicyVersions(sql)).filter((row) => standingOf(row) === 'APPROVED')
  return versions.flatMap((row) =>
    unmetQuorums(documentOf(row), { ...signers, membersOf: groups })
      .filter(({ from }) => from.includes(change.group))
      .map(({ sentence }) => `Policy '${row.name}' version '${row.version}': ${sentence}`),
  )
}
