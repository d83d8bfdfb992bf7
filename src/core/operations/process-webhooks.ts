// Processes due deliveries: workers/webhooks/process.ts.
import type { Said } from '../../formats/schemas/provider-confirmation.ts'
import type { DeliveryOutcome } from '../../formats/schemas/webhook-outcomes.ts'
import type { QueuedDelivery } from '../../store/queues/webhook-queue.ts'
import { ALONE, ONE, ownWork } from './operation.ts'

export interface DueWebhooks {
  /** The queue of all the jobs. */
  readonly queue: string
  readonly jobs: readonly { readonly jobId: string; readonly deliveries: readonly QueuedDelivery[] }[]
}

export interface ProcessedWebhooks {
  /** The reason of each failure, by the id of the job. */
  readonly failed: Readonly<Record<string, string>>
  readonly processed: readonly ProcessedDelivery[]
}

export interface ProcessedDelivery {
  readonly provider: string
  readonly says: Said | 'nothing'
  readonly outcome: DeliveryOutcome
}

export const processWebhooks = ownWork<DueWebhooks, ProcessedWebhooks>({
  lane: 'background',
  ...ALONE,
  ...ONE,
})
