// countersign approver groups and stand-ins: list the approvers who count where a policy names groups. `changes propose` changes them, like
// everything that humans govern.
import { printable } from '../formats/text/printable.ts'
import { ApproverGroupList } from '../formats/schemas/approver-group.ts'
import { StandInList } from '../formats/schemas/stand-in.ts'
import { shapeOf } from '../core/json/shape.ts'
import type { Given } from './command.ts'
import type { approver } from './commands.ts'
import { serviceOf } from './profile.ts'
import { pagesOf, shapedAnswer } from './service.ts'

const groupList = shapeOf(ApproverGroupList)
const standInList = shapeOf(StandInList)

/** Prints a line for each group: name, members, since when, and the change that set it. The key is that of a human or of an auditor. */
export async function listGroups(given: Given<typeof approver.groups>): Promise<void> {
  let count = 0
  for await (const answer of pagesOf(serviceOf(given), '/approver-groups'))
    for (const row of shapedAnswer(groupList, answer).approverGroups) {
      print([row.group, row.members.join(','), `since ${row.approvedAt ?? '?'}`, row.approvedByChange ?? '?'])
      count++
    }
  if (count === 0) console.error('There is no group.')
}

/** Prints a line for each stand-in that was not removed: who is away, who counts in their place, from when until when, and the change that set it. */
export async function listStandIns(given: Given<typeof approver.standIns>): Promise<void> {
  const now = new Date().toISOString()
  let count = 0
  for await (const answer of pagesOf(serviceOf(given), '/stand-ins'))
    for (const row of shapedAnswer(standInList, answer).standIns) {
      const { for: away, by, from, until, approvedByChange } = row
      const when = until <= now ? 'over' : from <= now ? 'now' : 'later'
      print([away, `${by} stands in`, `from ${from}`, `until ${until}`, when, approvedByChange ?? '?'])
      count++
    }
  if (count === 0) console.error('Nobody stands in for anybody.')
}

const print = (parts: readonly string[]) => console.log(printable(parts.join('  ')))
