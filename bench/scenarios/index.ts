// All scenarios of the suite, in the order in which they run. To add one: a file here and a row.
import type { Scenario, SelfMeasured } from '../scenario.ts'
import { coldStart } from './cold-start.ts'
import { duplicates } from './duplicates.ts'
import { receipt, verify } from './evidence.ts'
import { execute } from './execute.ts'
import { externalFast, externalSlow } from './external.ts'
import { growth } from './growth.ts'
import { hybrid } from './hybrid.ts'
import { mixed } from './mixed.ts'
import { read } from './read.ts'
import { rejected } from './rejected.ts'
import { webhook } from './webhook.ts'

export const scenarios: readonly (Scenario | SelfMeasured)[] = [
  execute,
  rejected,
  duplicates,
  mixed,
  read,
  verify,
  receipt,
  webhook,
  externalFast,
  externalSlow,
  hybrid,
  coldStart,
  growth,
]
