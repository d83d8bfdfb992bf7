// Describes a piece of evidence in words: requester, action, amount, approvers, result. It reads evidence of any
// shape and alone proves nothing, so the verdict is shown with it.
import type { Json } from '../json/canonical.ts'
import { cut } from '../text/text.ts'
import { TEXT_MAX, type AccountText } from '../artifacts/account-text.ts'
import { isMembers } from '../json/members.ts'
import { artifactOf, bulkEntries } from './index.ts'
import { described } from './kinds.ts'
import { parseEvidence } from './parse.ts'

export interface Account extends Omit<AccountText, 'said'> {
  /** Texts of the evidence, each with its subject. None is empty, and each is cut to a length that fits a page. */
  readonly said: readonly (readonly [about: string, text: string])[]
  readonly approvers: readonly string[]
  readonly approvals: readonly string[]
}

/** @returns an account of each piece of evidence in the text, in `verifyFileBy`'s order; none when the text cannot be read */
export function accountsOf(file: string): Account[] {
  let evidence: Json
  try {
    evidence = parseEvidence(file, 'The evidence')
  } catch {
    return []
  }
  return (bulkEntries(evidence) ?? [evidence]).map((entry) => {
    const members = isMembers(entry) ? entry : {}
    const artifact = artifactOf(members)
    const { said, ...others } = artifact === undefined ? { said: {} } : described(artifact).account(members)
    const texts = Object.entries(said).filter(([, one]) => one !== '')
    return {
      approvers: [],
      approvals: [],
      ...others,
      said: texts.map(([about, one]) => [about, cut(one, TEXT_MAX)] as const),
    }
  })
}
