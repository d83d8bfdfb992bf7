// The approvals that a policy asks for, compared with those who can give them: what a checker should know before a quorum cannot be met.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { counted } from '../../formats/text/text.ts'

/** Everybody whose signature counts, from some time on. */
export interface Signers {
  /** The approverIds of each group in effect. */
  readonly membersOf: ReadonlyMap<string, readonly string[]>
  /** approverIds with a key in effect. */
  readonly enrolled: ReadonlySet<string>
  readonly standIns: readonly StandIn[]
  /** ISO 8601: nothing before it is looked at. */
  readonly now: string
}

/** `by` counts in groups in the place of `for`. */
interface StandIn {
  readonly for: string
  readonly by: string
  /** ISO 8601; `until` is excluded. */
  readonly from: string
  readonly until: string
}

interface Unmet {
  /** The groups that the signal names; none: it takes every approver. */
  readonly from: readonly string[]
  readonly sentence: string
}

/** @returns a row for each signal whose quorum cannot be met, or not all the time */
export function unmetQuorums({ verify = {} }: Pick<PolicyDocument, 'verify'>, signers: Signers): Unmet[] {
  return Object.entries(verify).flatMap(([signal, verifier]): Unmet[] => {
    if (verifier.by !== 'approval') return []
    const { quorum, from } = verifier
    const asked = `verify.${signal} asks for ${counted(quorum, 'approval')}`
    if (from === undefined) {
      const { size } = signers.enrolled
      if (size >= quorum) return []
      const has = size === 0 ? 'no approver has' : size === 1 ? 'one approver has' : `${size} approvers have`
      return [{ from: [], sentence: `${asked}, and ${has} a key in effect: nobody can meet it.` }]
    }
    const ofGroups = `${asked} of ${from.join(' or ')}`
    const members = membersIn(from, signers)
    if (members.length < quorum) {
      const missing = from.filter((group) => !signers.membersOf.has(group))
      const why =
        missing.length === 0
          ? `which ${from.length === 1 ? 'has' : 'have'} ${counted(members.length, 'member')}`
          : `and there is no group ${missing.join(', ')}`
      return [{ from, sentence: `${ofGroups}, ${why}: nobody can meet it.` }]
    }
    const has = from.length === 1 ? 'has' : 'have'
    return spansOf(from, signers)
      .filter(({ able }) => able.length < quorum)
      .map((span) => ({ from, sentence: `${ofGroups}, which ${has} ${lackIn(span)}` }))
  })
}

/** @returns a sentence for each time in which no member of the group can sign; none where it has no member at all */
export function withoutSigners(group: string, signers: Signers): string[] {
  if (membersIn([group], signers).length === 0) return []
  return spansOf([group], signers)
    .filter(({ able }) => able.length === 0)
    .map((span) => `${group} has ${lackIn(span)}`)
}

/** A time in which the same approvers can sign. */
interface Span {
  /** ISO 8601; undefined: from now on, or without an end. */
  readonly from: string | undefined
  readonly until: string | undefined
  readonly able: readonly string[]
  /** Why the others cannot, each the end of a sentence. */
  readonly unable: readonly string[]
}

function membersIn(groups: readonly string[], { membersOf }: Signers): string[] {
  return [...new Set(groups.flatMap((group) => membersOf.get(group) ?? []))]
}

function spansOf(groups: readonly string[], signers: Signers): Span[] {
  const { enrolled, standIns, now } = signers
  const members = membersIn(groups, signers)
  const theirs = standIns.filter((one) => members.includes(one.for))
  const changesAt = theirs.flatMap(({ from, until }) => [from, until]).filter((at) => at > now)
  const starts = [now, ...new Set(changesAt.toSorted())]
  const spans = starts.map((at, i): Span => {
    const counting = members.map((member) => {
      const standIn = theirs.find((one) => one.for === member && one.from <= at && at < one.until)
      return { member, counts: standIn?.by ?? member }
    })
    return {
      from: at === now ? undefined : at,
      until: starts[i + 1],
      able: [...new Set(counting.map(({ counts }) => counts).filter((one) => enrolled.has(one)))].toSorted(),
      unable: counting
        .filter(({ counts }) => !enrolled.has(counts))
        .map(({ member, counts }) =>
          counts === member
            ? `${member} has no key in effect`
            : `${counts}, in the place of ${member}, has no key in effect`,
        ),
    }
  })
  return spans.reduce<Span[]>((joined, span) => {
    const before = joined.at(-1)
    const isSame = before !== undefined && lackOf(before) === lackOf(span)
    return isSame ? [...joined.slice(0, -1), { ...before, until: span.until }] : [...joined, span]
  }, [])
}

const lackOf = ({ able, unable }: Span) => [...able, '', ...unable].join('\n')

/** Completes a sentence that says what a group has. */
function lackIn({ from, until, able, unable }: Span): string {
  const whom = able.length === 0 ? 'nobody' : `only ${counted(able.length, 'approver')}`
  const begins = from === undefined ? '' : ` from ${from}`
  const ends = until === undefined ? (from === undefined ? '' : ' on') : ` until ${until}`
  const why = unable.length === 0 ? 'who stands in for others counts once' : unable.join(', ')
  return `${whom} who can sign${begins}${ends}: ${why}.`
}
