// Where the changes of each kind are in the API: for its routes, for the console and for commands. It brings no schema into a page.
import type { ChangeKindName } from './schemas/governance.ts'

/** Where changes of each kind are listed; one is at `<path>/{id}`, and is resolved at `<path>/{id}/approve` and `/reject`. */
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
