// The route table: every path and method of the service, in the order of interface §4. The first row that fits a request is its route.
import { approvalRequests } from './approval-requests.ts'
import { approvalStatistics } from './approval-statistics.ts'
import { approvals } from './approvals.ts'
import { approverGroups } from './approver-groups.ts'
import { approvers } from './approvers.ts'
import { audit } from './audit.ts'
import { callerKeys } from './caller-keys.ts'
import { callers } from './callers.ts'
import { changes } from './changes.ts'
import { confirmations } from './confirmations.ts'
import { documentation } from './documentation.ts'
import { documents } from './documents.ts'
import { events } from './events.ts'
import { eventEndpoints } from './event-endpoints.ts'
import { evidence } from './evidence.ts'
import { executionIntents } from './execution-intents.ts'
import { executions } from './executions.ts'
import { externalConnectors } from './external-connectors.ts'
import { handbook } from './handbook.ts'
import { keys } from './keys.ts'
import { evidenceLog } from './log.ts'
import { logAbsence } from './log-absence.ts'
import { logCompleteness } from './log-completeness.ts'
import { logWitness } from './log-witness.ts'
import { policies } from './policies.ts'
import { refusals } from './refusals.ts'
import type { Route } from '../route.ts'
import { savedPages } from './saved-pages.ts'
import { sandbox } from './sandbox.ts'
import { search } from './search.ts'
import { standIns } from './stand-ins.ts'
import { statistics } from './statistics.ts'
import { system } from './system.ts'
import { transactions } from './transactions.ts'
import { trustRecords } from './trust-records.ts'
import { webhookRules } from './webhook-rules.ts'
import { webhookEvents } from './webhook-events.ts'
import { webhooks } from './webhooks.ts'

export const routes: readonly Route[] = [
  ...system,
  ...documents,
  ...keys,
  ...callers,
  ...documentation,
  ...handbook,
  ...savedPages,
  ...transactions,
  ...evidence,
  ...trustRecords,
  ...policies,
  ...webhooks,
  ...webhookRules,
  ...webhookEvents,
  ...confirmations,
  ...approvers,
  ...approverGroups,
  ...standIns,
  ...externalConnectors,
  ...eventEndpoints,
  ...callerKeys,
  ...changes,
  ...approvals,
  ...approvalRequests,
  ...executions,
  ...statistics,
  ...approvalStatistics,
  ...search,
  ...executionIntents,
  ...events,
  ...sandbox,
  ...refusals,
  ...audit,
  ...evidenceLog,
  ...logAbsence,
  ...logCompleteness,
  ...logWitness,
]
