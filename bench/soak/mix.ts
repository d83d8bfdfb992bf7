// The mix of the soak: every story there is. Between them they go to every route of the table (test/bench-soak.test.ts).
import { authorityStories } from './authority.ts'
import { deliveryStories } from './deliveries.ts'
import { executionStories } from './executions.ts'
import { readStories } from './reads.ts'
import { refusedStories } from './refused.ts'
import type { Story } from './story.ts'

export const mix: readonly Story[] = [
  ...executionStories,
  ...readStories,
  ...refusedStories,
  ...deliveryStories,
  ...authorityStories,
]
