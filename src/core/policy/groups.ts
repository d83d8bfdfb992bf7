// The groups of approvers that a policy asks for, compared with those in effect: what a checker should know before a quorum cannot be met.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { counted } from '../../formats/text/text.ts'

interface Unmet {
  /** The groups that the signal names. */
  readonly from: readonly string[]
  readonly sentence: string
}

/**
 * @param membersOf the approverIds of each group in effect
 * @returns a row for each signal whose groups have fewer members than its quorum
 */
export function unmetQuorums(
  { verify = {} }: Pick<PolicyDocument, 'verify'>,
  membersOf: ReadonlyMap<string, readonly string[]>,
): Unmet[] {
  return Object.entries(verify).flatMap(([signal, verifier]): Unmet[] => {
    if (verifier.by !== 'approval' || verifier.from === undefined) return []
    const { quorum, from } = verifier
    const members = new Set(from.flatMap((group) => membersOf.get(group) ?? []))
    if (members.size >= quorum) return []
    const asked = `verify.${signal} asks for ${counted(quorum, 'approval')} of ${from.join(' or ')}`
    const missing = from.filter((group) => !membersOf.has(group))
    const why =
      missing.length === 0
        ? `which ${from.length === 1 ? 'has' : 'have'} ${counted(members.size, 'member')}`
        : `and there is no group ${missing.join(', ')}`
    return [{ from, sentence: `${asked}, ${why}: nobody can meet it.` }]
  })
}
