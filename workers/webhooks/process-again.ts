// POST /webhook-events/{id}/process: a delivery gets a new job, in the transaction that makes it wait again; a dead job is run again.
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { NoMembers } from '../../src/formats/schemas/execution-intent.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import { readWebhookEvent } from '../../src/store/tables/webhook-events.ts'
import type { WebhookProviders } from '../../src/core/webhooks/providers.ts'
import type { WebhookJobs } from '../../src/store/queues/webhook-queue.ts'
import { isEmptied, requeue } from '../../src/core/webhooks/requeue.ts'
import { shownDelivery } from '../../src/core/webhooks/shown.ts'
import type { ThreadContext } from '../context.ts'
import type { Success, WorkerRequest } from '../in-flight.ts'

interface ProcessAgainWith extends Pick<ThreadContext, 'pool'> {
  readonly webhookJobs: () => Promise<WebhookJobs>
  readonly webhookProviders: WebhookProviders
}

const bodyMembers = bodyOf(NoMembers)

/** @returns 200 with the delivery, which waits; 404, or 409 where it waits already or nothing would process it */
export async function processAgain(
  { body, params }: WorkerRequest,
  { pool, webhookJobs, webhookProviders }: ProcessAgainWith,
): Promise<Failure | Success> {
  const members = bodyMembers(body)
  if (members instanceof Failure) return members
  const key = params['id']?.toLowerCase() ?? ''
  const found = isUuid(key) ? await readWebhookEvent(pool, key) : null
  if (found === null) return failures.webhookEventNotFound()
  if (isEmptied(found))
    return failures.conflict('The body of the delivery was emptied: nothing is left to process.')
  // pg-boss has no tables on a database without a provider.
  if (Object.keys(webhookProviders).length === 0)
    return failures.conflict('No provider is configured, so nothing processes deliveries.')
  const jobs = await webhookJobs()
  const requeued = await requeue({ pool, jobs }, found)
  if (!requeued) return failures.conflict('The delivery waits to be processed already.')
  const { provider, eventId } = found
  return {
    body: JSON.stringify(shownDelivery((await readWebhookEvent(pool, key)) ?? found)),
    audit: {
      type: 'webhook.requeued',
      reason: 'A human has a delivery processed again.',
      detail: { webhookEventId: key, provider, eventId },
    },
  }
}
