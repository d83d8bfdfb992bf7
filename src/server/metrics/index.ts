// Metrics for Prometheus (docs/handbook/operating.md "What to watch"): none of them exists unless METRICS_PORT is set.
import { readBackOutcomes, type ReadBackOutcome } from '../../core/operations/read-back.ts'
import type { ProcessedDelivery } from '../../core/operations/process-webhooks.ts'
import { watchBatches, type BatchWatch } from './batches.ts'
import { openInstruments } from './instruments.ts'
import { watchReplies, type Labels, type ReplyWatch } from './replies.ts'
import { openScrape, type Scraped } from './scrape.ts'
import { serveMetrics, type MetricsServer } from './serve.ts'

export interface Metrics {
  readonly batches: BatchWatch
  readonly replies: ReplyWatch
  readonly processed: (delivery: ProcessedDelivery) => void
  /** The metrics count each attempt to deliver an event. */
  readonly onDelivery: (outcome: 'delivered' | 'failed') => void
  /** The metrics count each question to an external connector. */
  readonly onReadBack: (outcome: ReadBackOutcome) => void
  /** The metrics count each attempt to notify approvers of a request. */
  readonly onNotification: (outcome: 'sent' | 'failed') => void
  /** Serves GET /metrics and resolves to its URL. */
  readonly serve: (at: { host: string; port: number }, scraped: Scraped) => Promise<string>
  readonly close: () => Promise<void>
}

export function openMetrics({
  onError,
  labels,
}: {
  readonly onError: (error: unknown) => void
  readonly labels: Labels
}): Metrics {
  const instruments = openInstruments()
  // The series exist from the start, so that the first event is seen as an increase.
  for (const outcome of ['delivered', 'failed']) instruments.eventDeliveries.inc({ outcome }, 0)
  for (const outcome of ['sent', 'failed']) instruments.notifications.inc({ outcome }, 0)
  for (const outcome of readBackOutcomes) instruments.readBacks.inc({ outcome }, 0)
  let server: MetricsServer | undefined
  return {
    batches: watchBatches(instruments),
    replies: watchReplies(instruments, labels),
    processed: ({ provider, says, outcome }) => instruments.confirmations.inc({ provider, says, outcome }),
    onDelivery: (outcome) => instruments.eventDeliveries.inc({ outcome }),
    onReadBack: (outcome) => instruments.readBacks.inc({ outcome }),
    onNotification: (outcome) => instruments.notifications.inc({ outcome }),
    async serve({ host, port }, scraped) {
      const { contentType } = instruments.registry
      const scrape = openScrape(instruments, scraped)
      server = await serveMetrics({ host, port, contentType, scrape, onError })
      return server.url
    },
    async close() {
      await server?.close()
    },
  }
}
