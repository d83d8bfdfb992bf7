// Compares the approvals that a policy asks for with the people who can give them, so that a checker learns of a quorum that cannot be met.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { counted } from '../../formats/text/text.ts'

/** All people whose signatures count, from some time on. */
export interface Signers {
  /** The approverIds of each group in effect. */
  readonly membersOf: ReadonlyMap<string, readonly string[]>
  /** approverIds with a key in effect. */
  readonly enrolled: ReadonlySet<string>
  readonly standIns: readonly StandIn[]
  /** ISO 8601: earlier times are ignored. */
  readonly now: string
}

/** `by` counts in groups in place of `for`. */
interface StandIn {
  readonly for: string
  readonly by: string
  /** ISO 8601; `until` is excluded. */
  readonly from: string
  readonly until: string
}

interface Unmet {
  /** The groups that the signal names; none: every approver counts. */
  readonly from: readonly string[]
  readonly sentence: string
}

/** @returns a row for each signal whose quorum cannot be met, at all or for some time */
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

/** @returns a sentence for each period in which no member of the group can sign; none when the group has no members */
export function withoutSigners(group: string, signers: Signers): string[] {
  if (membersIn([group], signers).length === 0) return []
  return spansOf([group], signers)
    .filter(({ able }) => able.length === 0)
    .map((span) => `${group} has ${lackIn(span)}`)
}

/** A period in which the same approvers can sign. */
interface Span {
  /** ISO 8601; undefined: from now on (`from`), or without an end (`until`). */
  readonly from: string | undefined
  readonly until: string | undefined
  readonly able: readonly string[]
  /** The reasons why the others cannot sign, each as the end of a sentence. */
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

/** Completes a sentence about a group: "… has nobody who can sign". */
function lackIn({ from, until, able, unable }: Span): string {
  const whom = able.length === 0 ? 'nobody' : `only ${counted(able.length, 'approver')}`
  const begins = from === undefined ? '' : ` from ${from}`
  const ends = until === undefined ? (from === undefined ? '' : ' on') : ` until ${until}`
  const why = unable.length === 0 ? 'who stands in for others counts once' : unable.join(', ')
  return `${whom} who can sign${begins}${ends}: ${why}.`
}
