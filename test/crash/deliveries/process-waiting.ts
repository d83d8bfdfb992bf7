// Processes the deliveries whose jobs wait, as one batch of a worker thread.
import { openJoinedQueue } from '../../../src/store/queues/job-queue.ts'
import { openCrypto } from '../../../src/core/signing/crypto.ts'
import { readPublicKeys, readSigningKeys } from '../../../src/core/signing/keys.ts'
import { startLogEntries } from '../../../src/store/tables/log-queue.ts'
import { readWebhookRulesInEffect } from '../../../src/store/tables/webhook-rules.ts'
import type { DueWebhooks, ProcessedWebhooks } from '../../../src/core/operations/process-webhooks.ts'
import {
  deliveriesIn,
  openWebhookJobs,
  WEBHOOK_BATCH_QUEUE,
} from '../../../src/store/queues/webhook-queue.ts'
import { processWebhooks } from '../../../workers/webhooks/process.ts'
import { openWebhookRules } from '../../../workers/webhooks/rules.ts'
import { patientPool } from '../../patient-pool.ts'

export async function processWaiting({
  url,
  keyDir,
}: {
  readonly url: string
  readonly keyDir: string
}): Promise<ProcessedWebhooks> {
  const pool = patientPool(url, 4)
  const { rows: jobs } = await pool.query<DueWebhooks['jobs'][number]>(
    `SELECT id AS "jobId", ${deliveriesIn('job')} AS deliveries FROM pgboss.job
     WHERE name = '${WEBHOOK_BATCH_QUEUE}' ORDER BY created_on, id`,
  )
  const published = readPublicKeys(keyDir)
  const given: DueWebhooks = { queue: WEBHOOK_BATCH_QUEUE, jobs }
  const processed = await processWebhooks(given, {
    pool,
    key: readSigningKeys(keyDir, ['ed25519']).ed25519,
    crypto: openCrypto({ findKey: (keyId) => published.get(keyId), findApproverKey: () => undefined }),
    startLogEntries,
    webhookRules: openWebhookRules(await readWebhookRulesInEffect(pool)),
    webhookJobs: openWebhookJobs(openJoinedQueue(pool)),
  })
  await pool.end()
  return processed
}
