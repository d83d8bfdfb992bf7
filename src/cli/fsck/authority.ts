// Checks what humans have put in effect and ended (decisions §6, §7): each row states exactly what its signed change says.
import type { Members } from '../../formats/json/members.ts'
import type { ChangeKindName } from '../../formats/schemas/governance.ts'
import { list, members, string } from '../../formats/artifacts/evidence.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { authorityKinds, statedText } from '../../store/tables/authority.ts'
import { checkOf, lazyMembers, sameTime, type SelectedRow, type Rule } from './check.ts'

const columns = {
  // The kind and the key.
  key: ['text', `c.kind || ' ' || c.key`],
  kind: 'text',
  target: 'text',
  text: ['text', 'c.stated'],
  hash: ['text', 'c.stated_hash'],
  uniqueKey: 'text?',
  loadedAt: 'timestamptz',
  beganBy: 'text?',
  beganAt: 'timestamptz?',
  beganByChange: 'text?',
  // As resolved; null where there is no such change.
  beginning: ['text?', 'b.resolved_body'],
  endedBy: 'text?',
  endedAt: 'timestamptz?',
  endedByChange: 'text?',
  ending: ['text?', 'e.resolved_body'],
} as const

interface Item extends SelectedRow<typeof columns> {
  readonly kind: ChangeKindName
  readonly stated: () => Members
}

/** @throws Error where it is not an approved change of this kind. Its own check verifies its signature */
function approvedChange(text: string | null, kind: string): Members {
  if (text === null) throw new Error('change is missing or not resolved')
  const change = lazyMembers(text, 'pending_changes', 'resolved_body')()
  if (change['status'] !== 'APPROVED' || change['kind'] !== kind)
    throw new Error('change is about something else, or was not approved')
  return change
}

/** Kinds whose row in effect ends where the next one of its target begins. */
const SUCCEEDED: readonly ChangeKindName[] = ['webhook-rules', 'approver-group']

/** Kinds that end at the database's time: after every execution that has rested on them. */
const AFTER_USE: readonly ChangeKindName[] = ['approver', 'approver-group', 'stand-in']

/** Whether a change of its kind ends the row. */
function ends({ kind, target }: Item, change: Members): boolean {
  const { action, retires = [] } = members(change['proposed'])
  // The next rules of a provider replace this row, as do the next members of a group.
  if (change['target'] === target)
    return ['revoke', 'retire', 'remove'].includes(action as string) || SUCCEEDED.includes(kind)
  const [name = '', version = ''] = target.split('/')
  return (
    kind === 'policy' && string(change['target']).startsWith(`${name}/`) && list(retires).includes(version)
  )
}

/** Kinds that come from files: `genesis` approves them, and later ones wait for a change. */
const isDocument = ({ kind }: Item) => kind === 'policy' || kind === 'webhook-rules'

const RULES: readonly Rule<Item>[] = [
  ['what it states does not match its hash', ({ text, hash }) => sha256Hex(text) === hash],
  [
    'states something of another name or key',
    ({ kind, target, uniqueKey, stated }) => {
      const { target: targetOf, uniqueKey: uniqueKeyOf } = authorityKinds[kind]
      const said = stated() as Readonly<Record<string, string>>
      return targetOf(said) === target && (uniqueKeyOf?.(said) ?? null) === uniqueKey
    },
  ],
  [
    'is approved by genesis, but was not present at the first start',
    (row, { genesisAt }) =>
      row.beganBy !== 'genesis' ||
      (isDocument(row) &&
        row.beganAt !== null &&
        sameTime(row.beganAt, genesisAt) &&
        sameTime(row.loadedAt, genesisAt)),
  ],
  [
    'is in effect, but no change began it',
    (row) => {
      const { kind, beganBy, beganAt, beganByChange, endedAt } = row
      if (beganBy !== null && beganAt !== null) return (beganBy !== 'genesis') === (beganByChange !== null)
      // A key of SERVICE_API_KEYS is here because it was revoked.
      const isStanding = endedAt === null ? isDocument(row) : kind === 'caller-key'
      return beganBy === null && beganAt === null && beganByChange === null && isStanding
    },
  ],
  [
    'differs from what the change says',
    ({ kind, target, text, beganBy, beganAt, beganByChange, beginning }) => {
      if (beganByChange === null) return true
      const { target: changed, proposed, resolvedBy, resolvedAt } = approvedChange(beginning, kind)
      const isStated = statedText(kind, members(proposed)) === text
      const isBegun = resolvedBy === beganBy && beganAt !== null && sameTime(beganAt, resolvedAt)
      return changed === target && isStated && isBegun
    },
  ],
  [
    'its end differs from what the changes say',
    (row) => {
      const { kind, endedBy, endedAt, endedByChange, ending } = row
      // Genesis ends nothing, and each end has its change.
      if (endedAt === null || endedByChange === null)
        return endedBy === null && endedAt === null && endedByChange === null
      const change = approvedChange(ending, kind)
      const isThen = AFTER_USE.includes(kind) || sameTime(endedAt, change['resolvedAt'])
      return ends(row, change) && change['resolvedBy'] === endedBy && isThen
    },
  ],
]

function read(row: SelectedRow<typeof columns>): Item {
  return { ...row, kind: row.kind as ChangeKindName, stated: lazyMembers(row.text, 'authority', 'stated') }
}

export const authority = checkOf({
  table: 'authority',
  columns,
  joins: `
    LEFT JOIN pending_changes AS b ON b.change_id = c.began_by_change
    LEFT JOIN pending_changes AS e ON e.change_id = c.ended_by_change`,
  read,
  rules: RULES,
})
