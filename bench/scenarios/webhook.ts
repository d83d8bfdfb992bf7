// Signed deliveries, as bench/webhook.ts measures them: its figures beside those of the other scenarios.
import { figureOf, figureOfAll } from '../figures.ts'
import type { MeasureOptions, Measured } from '../measure.ts'
import type { Measurement } from '../report.ts'
import type { SelfMeasured } from '../scenario.ts'
import { webhook as measureWebhook, type WebhookReport } from '../webhook.ts'

const CONNECTIONS = 64
/** Deliveries per second, for the latency of the reply and of the processing behind it. */
const RATE = 500

export const webhook: SelfMeasured = {
  name: 'webhook',
  description: 'POST /webhooks/{provider}: signed deliveries, stored with their job and processed once',
  isLocal: true,
  estimatedSeconds: ({ rounds, seconds }) => rounds * (2 * seconds + 8),
  measure,
}

async function measure(
  { rounds, seconds, listener, progress }: MeasureOptions,
  stack: AsyncDisposableStack,
): Promise<Measured> {
  const reports: WebhookReport[] = []
  const problems: string[] = []
  for (let round = 0; round < rounds; round++) {
    const measured = await progress.during(`webhook: round ${round + 1}`, 2 * seconds + 8, () =>
      measureWebhook({ seconds, listener, rate: RATE, connections: CONNECTIONS }, stack),
    )
    reports.push(measured.report)
    problems.push(...measured.problems)
  }
  const deliveries = reports.reduce((sum, { checked }) => sum + checked.deliveries, 0)
  return {
    report: {
      name: webhook.name,
      description: webhook.description,
      service: reports[0] && { ...reports[0].service, postgres: '' },
      measurements: [measurementOf(reports)],
      yardsticks: undefined,
      checked: {
        replies: deliveries,
        rows: ['webhook_events', 'audit_events'],
        verifiedOffline: 0,
      },
    },
    problems: problems.map((problem) => `webhook: ${problem}`),
  }
}

function measurementOf(reports: readonly WebhookReport[]): Measurement {
  const runs = (name: string) => reports.flatMap((report) => report.runs.filter((run) => run.name === name))
  const [open, paced] = [runs('open throttle'), runs('fixed rate')]
  const part = (name: 'door' | 'workers' | 'helpers' | 'postgres' | 'total') =>
    figureOfAll(open.map(({ cpu }) => cpu?.[name]))
  const [door, workers, helpers, postgres, total] = [
    part('door'),
    part('workers'),
    part('helpers'),
    part('postgres'),
    part('total'),
  ]
  return {
    label: String(CONNECTIONS),
    connections: CONNECTIONS,
    perSecond: figureOf(open.map(({ perSecond }) => perSecond)),
    latency: {
      ratePerSecond: figureOf(paced.map(({ perSecond }) => perSecond)),
      p50: figureOf(paced.map(({ latencyMs }) => latencyMs.p50)),
      p99: figureOf(paced.map(({ latencyMs }) => latencyMs.p99)),
      max: figureOf(paced.map(({ latencyMs }) => latencyMs.max)),
      distribution: undefined,
    },
    cpu:
      door && workers && helpers && postgres && total
        ? { door, workers, helpers, postgres, total, timesFloor: undefined }
        : undefined,
    generator: undefined,
    batches: undefined,
    more: {
      'lag p99 ms': figureOf(paced.map(({ backlog }) => backlog.lagMs.p99)),
      'backlog max': figureOf(open.map(({ backlog }) => backlog.max)),
      'drain s': figureOf(open.map(({ backlog }) => backlog.drainSeconds)),
    },
    disturbance: undefined,
    overTime: undefined,
  }
}
