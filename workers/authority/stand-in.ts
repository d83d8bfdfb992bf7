// Changes of stand-ins: one human proposes an approver who counts in place of another for a time, or the end of that, and another
// human approves it.
import type { Static } from 'typebox'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { storedInstant } from '../../src/formats/schemas/primitives.ts'
import { StandInProposal } from '../../src/formats/schemas/stand-in.ts'
import { timeAfterUse } from '../../src/store/tables/approvers.ts'
import { begin, end, inEffect, standInTarget } from '../../src/store/tables/authority.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { readStandIns } from '../../src/store/tables/stand-ins.ts'
import type { ChangeKind } from './change-kind.ts'
import { lackingAfter, readSigners } from './signers.ts'

interface SetStandIn {
  readonly action: 'set'
  readonly for: string
  readonly by: string
  /** ISO 8601, milliseconds, as `until`, which is excluded. */
  readonly from: string
  readonly until: string
}

interface RemoveStandIn {
  readonly action: 'remove'
  readonly for: string
  readonly from: string
}

const DAYS_MAX = 90
const DAY_MS = 86_400_000

const proposalOf = bodyOf(StandInProposal)

export const standInChanges: ChangeKind<SetStandIn | RemoveStandIn> = {
  read(body) {
    const proposal = proposalOf(body)
    if (proposal instanceof Failure) return proposal
    const proposed = proposedBy(proposal)
    return proposed instanceof Failure
      ? proposed
      : { target: standInTarget(proposed), proposed, reason: proposal.reason }
  },

  check: (change) => {
    const isOver = change.action === 'set' && Date.parse(change.until) <= Date.now()
    return Promise.resolve(isOver ? failures.invalidField('until must be in the future.') : undefined)
  },

  async contradiction(change, sql) {
    if (change.action === 'remove') {
      const [standing] = await inEffect(sql, 'stand-in', standInTarget(change))
      return standing === undefined
        ? failures.conflict(`There is no stand-in for ${change.for} from ${change.from}.`)
        : undefined
    }
    // Its lock is held until the change is applied: of two that overlap, the second finds the first.
    await timeAfterUse(sql, { approverIds: [change.for, change.by] })
    const other = (await readStandIns(sql)).find(
      (one) => one.for === change.for && one.from < change.until && change.from < one.until,
    )
    return other === undefined
      ? undefined
      : failures.conflict(
          `${other.by} stands in for ${other.for} from ${other.from} until ${other.until}, which overlaps.`,
        )
  },

  async examine({ proposed }, sql) {
    return { proposed, warnings: await warningsOf(proposed, sql) }
  },

  async apply(change, sql) {
    const { target, proposed } = change
    if (proposed.action === 'set') {
      const isBegun = await begin(sql, 'stand-in', change)
      return isBegun ? undefined : failures.conflict(`The stand-in ${target} has been changed meanwhile.`)
    }
    const [standing] = (await readStandIns(sql)).filter((one) => standInTarget(one) === target)
    const at = await timeAfterUse(sql, { approverIds: standing === undefined ? [] : [standing.by] })
    const ended = await end(sql, 'stand-in', { ...change, at, targets: [target] })
    return ended.length === 1
      ? undefined
      : failures.conflict(`The stand-in ${target} has been changed meanwhile.`)
  },
}

function proposedBy(proposal: Static<typeof StandInProposal>): SetStandIn | RemoveStandIn | Failure {
  const from = storedInstant(proposal.from)
  if (proposal.action === 'remove') return { action: 'remove', for: proposal.for, from }
  const { for: away, by } = proposal
  const until = storedInstant(proposal.until)
  if (away === by) return failures.invalidField('by must be another approver than for.')
  if (from >= until) return failures.invalidField('until must be after from.')
  if (Date.parse(until) - Date.parse(from) > DAYS_MAX * DAY_MS)
    return failures.invalidField(`until must be at most ${DAYS_MAX} days after from.`)
  return { action: 'set', for: away, by, from, until }
}

async function warningsOf(change: SetStandIn | RemoveStandIn, sql: Sql): Promise<string[]> {
  const before = await readSigners(sql)
  const others = before.standIns.filter((one) => standInTarget(one) !== standInTarget(change))
  const isSet = change.action === 'set'
  const after = { ...before, standIns: isSet ? [...others, change] : others }
  const lacking = await lackingAfter({ before, after }, sql)
  if (!isSet) return lacking
  const isMember = before.membersOf.values().some((members) => members.includes(change.for))
  return [
    ...(before.enrolled.has(change.by) ? [] : [`No approver ${change.by} has a key in effect.`]),
    ...(isMember ? [] : [`No group has the member ${change.for}: it changes nothing until one does.`]),
    ...lacking,
  ]
}
