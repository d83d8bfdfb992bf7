// The change by which humans have put something in effect.
import type { Members } from '../../formats/json/members.ts'
import { lazyMembers } from './check.ts'

/** The approved change of this kind and, if one is given, target; throws where there is none. Its own check verifies its signature. */
export function approvedChange(text: string | null, kind: string, target?: string): Members {
  if (text === null) throw new Error('change is missing or not resolved')
  const change = lazyMembers(text, 'pending_changes', 'resolved_body')()
  const isOther = target !== undefined && change['target'] !== target
  if (change['status'] !== 'APPROVED' || change['kind'] !== kind || isOther)
    throw new Error('change is about something else, or was not approved')
  return change
}
