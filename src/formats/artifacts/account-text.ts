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

export function ofIntent(intent: Members) {
  return {
    'Asked for': joined(' → ', text(intent, 'action'), text(intent, 'target')),
    'How much': membersText(at(intent, 'parameters')),
  }
}

export function approversOf(decision: Members): string[] {
  const approvals = Object.values(at(decision, 'verifiedSignals')).flatMap((signal) =>
    isMembers(signal) ? itemsOf(signal['approvals']) : [],
  )
  const names = approvals.map((approval) =>
    isMembers(approval) ? text(at(approval, 'payload'), 'approverId') : '',
  )
  return [...new Set(names.filter(Boolean))].map((name) => cut(name, TEXT_MAX))
}

export function policyText(policy: Members): string {
  return joined(' ', text(policy, 'name'), text(policy, 'version'))
}

export function membersText(members: Members): string {
  return Object.entries(members)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

export function joined(separator: string, ...texts: readonly string[]): string {
  return texts.filter(Boolean).join(separator)
}

export function at(members: Members, name: string): Members {
  const value = members[name]
  return isMembers(value) ? value : {}
}

export function text(members: Members, name: string): string {
  const value = members[name]
  return typeof value === 'string' ? value : ''
}
