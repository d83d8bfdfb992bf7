// Processes a delivery again: a processed one gets a new job, a dead job is run again (decisions §10).
import type { Pool } from 'pg'
import { inTransaction } from '../../store/postgres/transaction.ts'
import { unprocess, type ShownDelivery } from '../../store/tables/webhook-events.ts'
import type { WebhookJobs } from '../../store/queues/webhook-queue.ts'

/** @returns false when the delivery already waits to be processed; then nothing is changed */
export async function requeue(
  { pool, jobs }: { readonly pool: Pool; readonly jobs: WebhookJobs },
  { eventKey, processedAt }: Pick<ShownDelivery, 'eventKey' | 'processedAt'>,
): Promise<boolean> {
  if (processedAt === null) return jobs.revive(eventKey)
  return inTransaction(pool, async (transaction) => {
    const bytes = await unprocess(transaction, eventKey)
    if (bytes === null) return false
    await jobs.add(transaction, [{ id: eventKey, bytes }])
    return true
  })
}

/** SHA-256 of no bytes: a delivery may have been empty from the start. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Whether the body was emptied after the delivery was processed (docs/handbook/keeping.md): nothing is left to process. */
export function isEmptied({
  bodyBytes,
  bodySha256,
}: Pick<ShownDelivery, 'bodyBytes' | 'bodySha256'>): boolean {
  return bodyBytes === 0 && bodySha256 !== EMPTY_SHA256
}
