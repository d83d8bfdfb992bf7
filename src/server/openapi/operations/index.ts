// Every route's operation; the compiler names a route of the table that has none.
import type { RouteName } from '../../routes/index.ts'
import type { Operations } from '../operation.ts'
import { approvals } from './approvals.ts'
import { approvers } from './approvers.ts'
import { audit } from './audit.ts'
import { documents } from './documents.ts'
import { evidence } from './evidence.ts'
import { executionIntents } from './execution-intents.ts'
import { executions } from './executions.ts'
import { externalConnectors } from './external-connectors.ts'
import { policies } from './policies.ts'
import { refusals } from './refusals.ts'
import { sandbox } from './sandbox.ts'
import { system } from './system.ts'
import { webhooks } from './webhooks.ts'

export const operations: Operations<RouteName> = {
  ...system,
  ...documents,
  ...executions,
  ...evidence,
  ...policies,
  ...approvers,
  ...externalConnectors,
  ...approvals,
  ...sandbox,
  ...executionIntents,
  ...refusals,
  ...audit,
  ...webhooks,
}
