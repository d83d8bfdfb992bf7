// The API paths of the changes of each kind, for routes, the console and commands. This module brings no schema into a page.
import type { ChangeKindName } from './schemas/governance.ts'

/** Paths of the lists of each kind; a change is at `<path>/{id}`, and is resolved at `<path>/{id}/approve` and `/reject`. */
export const changePaths: Readonly<Record<ChangeKindName, string>> = {
  policy: '/policies/pending-changes',
  approver: '/approvers/changes',
  'external-connector': '/external-connectors/changes',
  'webhook-rules': '/webhook-rules/changes',
  'event-endpoint': '/event-endpoints/changes',
  'caller-key': '/caller-keys/changes',
  'approver-group': '/approver-groups/changes',
  'stand-in': '/stand-ins/changes',
}
