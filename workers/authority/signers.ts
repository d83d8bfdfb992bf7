// The effect of a change on the approvers who can sign: policies in effect, and groups, that would lack them.
import { unmetQuorums, withoutSigners, type Signers } from '../../src/core/policy/groups.ts'
import { documentOf, standingOf } from '../../src/core/policy/versions.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { readApproverGroups } from '../../src/store/tables/approver-groups.ts'
import { readApproversInEffect } from '../../src/store/tables/approvers.ts'
import { readPolicyVersions } from '../../src/store/tables/policy-versions.ts'
import { readStandIns } from '../../src/store/tables/stand-ins.ts'

/** Reads the approvers who can sign now, and who can by stand-ins that are set for later. */
export async function readSigners(sql: Sql): Promise<Signers> {
  const groups = await readApproverGroups(sql)
  return {
    membersOf: new Map(groups.map(({ group, members }) => [group, members])),
    enrolled: new Set(await readApproversInEffect(sql)),
    standIns: await readStandIns(sql),
    now: new Date().toISOString(),
  }
}

/** Sentences on groups, and then on policies in effect, that lack signatures after a change and did not before it. */
export async function lackingAfter(
  { before, after }: { readonly before: Signers; readonly after: Signers },
  sql: Sql,
): Promise<string[]> {
  const policies = (await readPolicyVersions(sql)).filter((row) => standingOf(row) === 'APPROVED')
  const lackingWith = (signers: Signers) => [
    ...[...signers.membersOf.keys()].flatMap((group) => withoutSigners(group, signers)),
    ...policies.flatMap((row) =>
      unmetQuorums(documentOf(row), signers).map(
        ({ sentence }) => `Policy '${row.name}' version '${row.version}': ${sentence}`,
      ),
    ),
  ]
  const known = new Set(lackingWith(before))
  return lackingWith(after).filter((sentence) => !known.has(sentence))
}
