// An artifact says in words who asked for what, how much, who approved, what was done. The words are read from evidence of any shape.
import { cut } from '../text/text.ts'
import { isMembers, type Members } from '../json/members.ts'
import { itemsOf } from './evidence.ts'

export type Ending = 'Done, as the connector reported' | 'Not done' | 'Refused' | 'An approval was asked for'

export interface AccountText {
  /** Texts, by what each is about; '' for one that is not there. */
  readonly said: Readonly<Record<string, string>>
  /** Evidence about an action has its name, and how it ended. */
  readonly action?: { readonly name: string; readonly ending: Ending }
  /** The humans who approved the action, each once, by the name that their key is enrolled under. */
  readonly approvers?: readonly string[]
}

/** A text that fits a page. */
export const TEXT_MAX = 200

/** The action of an intent, its target and how much. */
export function ofIntent(intent: Members) {
  return {
    'Asked for': joined(' → ', textAt(intent, 'action'), textAt(intent, 'target')),
    'How much': membersText(membersAt(intent, 'parameters')),
  }
}

/** The names of the humans whose approvals a decision carries, each once. */
export function approversOf(decision: Members): string[] {
  const approvals = Object.values(membersAt(decision, 'verifiedSignals')).flatMap((signal) =>
    isMembers(signal) ? itemsOf(signal['approvals']) : [],
  )
  const names = approvals.map((approval) =>
    isMembers(approval) ? textAt(membersAt(approval, 'payload'), 'approverId') : '',
  )
  return [...new Set(names.filter(Boolean))].map((name) => cut(name, TEXT_MAX))
}

/** Name and version of a policy. */
export function policyText(policy: Members): string {
  return joined(' ', textAt(policy, 'name'), textAt(policy, 'version'))
}

/** Members with their values, on one line. */
export function membersText(members: Members): string {
  return Object.entries(members)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

/** Joins the texts that are there. */
export function joined(separator: string, ...texts: readonly string[]): string {
  return texts.filter(Boolean).join(separator)
}

/** The object that a member is; an empty one for anything else. */
export function membersAt(members: Members, name: string): Members {
  const value = members[name]
  return isMembers(value) ? value : {}
}

/** The text that a member is; '' for anything else. */
export function textAt(members: Members, name: string): string {
  const value = members[name]
  return typeof value === 'string' ? value : ''
}
