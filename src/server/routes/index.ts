// The route table: every path and method of the service, in the order of interface §4. The first row that fits a request is its route.
import { approvals } from './approvals.ts'
import { approvers } from './approvers.ts'
import { audit } from './audit.ts'
import { callers } from './callers.ts'
import { documentation } from './documentation.ts'
import { documents } from './documents.ts'
import { evidence } from './evidence.ts'
import { executionIntents } from './execution-intents.ts'
import { externalConnectors } from './external-connectors.ts'
import { handbook } from './handbook.ts'
import { keys } from './keys.ts'
import { policies } from './policies.ts'
import { refusals } from './refusals.ts'
import type { Route } from './route.ts'
import { sandbox } from './sandbox.ts'
import { system } from './system.ts'
import { transactions } from './transactions.ts'
import { trustRecords } from './trust-records.ts'
import { verifier } from './verifier.ts'
import { webhooks } from './webhooks.ts'

export const routes: readonly Route[] = [
  ...system,
  ...documents,
  ...keys,
  ...callers,
  ...documentation,
  ...handbook,
  ...verifier,
  ...transactions,
  ...evidence,
  ...trustRecords,
  ...policies,
  ...webhooks,
  ...approvers,
  ...externalConnectors,
  ...approvals,
  ...executionIntents,
  ...sandbox,
  ...refusals,
  ...audit,
]
