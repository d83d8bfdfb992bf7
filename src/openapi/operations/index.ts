// Every route's operation; the compiler names a route of the table that has none.
import type { RouteName } from '../../routes/index.ts'
import type { Operations } from '../operation.ts'
import { audit } from './audit.ts'
import { documents } from './documents.ts'
import { evidence } from './evidence.ts'
import { executions } from './executions.ts'
import { policies } from './policies.ts'
import { refusals } from './refusals.ts'
import { system } from './system.ts'

export const operations: Operations<RouteName> = {
  ...system,
  ...documents,
  ...executions,
  ...evidence,
  ...policies,
  ...refusals,
  ...audit,
}
