// The provider of the scenario `webhook`, a program of its own: signed deliveries, each new by its id and by its bytes.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import { percentile } from './figures.ts'

export interface WebhookJob {
  readonly url: string
  readonly provider: string
  readonly secret: string
  readonly connections: number
  readonly seconds: number
  /** Deliveries per second; undefined is open throttle. */
  readonly ratePerSecond: number | undefined
}

export interface WebhookLoad {
  /** Deliveries that were answered, by status; 0 where no reply came. */
  readonly statuses: Readonly<Record<string, number>>
  /** From the first delivery to the last reply. */
  readonly seconds: number
  /** Of this program, per delivery. */
  readonly cpuMicros: number
  /** At a fixed rate from when a delivery was due, at open throttle from when it was sent. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number }
}

process.on('message', (job: WebhookJob) => void load(job).then((result) => process.send?.(result)))

async function load(job: WebhookJob): Promise<WebhookLoad> {
  const statuses: Record<string, number> = {}
  const latencies: number[] = []
  const connections = Array.from({ length: job.connections }, () => openConnection(new URL(job.url)))
  // Callers keep theirs: what it takes to open them is not measured.
  await Promise.all(connections.map((connection) => connection.open()))
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  const deliver = async (connection: Connection, sinceMs: number) => {
    const status = await new Promise<number>((resolve) => connection.send(aDelivery(job), resolve))
    statuses[status] = (statuses[status] ?? 0) + 1
    latencies.push(performance.now() - sinceMs)
  }
  const work = job.ratePerSecond === undefined ? openThrottle : fixedRate
  await work({ ...job, ratePerSecond: job.ratePerSecond ?? 0 }, connections, deliver)
  for (const connection of connections) connection.close()
  const { user, system } = process.cpuUsage(startCpu)
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    statuses,
    seconds: (performance.now() - startMs) / 1000,
    cpuMicros: (user + system) / latencies.length,
    latencyMs: { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), max: percentile(sorted, 1) },
  }
}

type Deliver = (connection: Connection, sinceMs: number) => Promise<void>

/** Each connection sends its next delivery as soon as it has its reply. */
async function openThrottle(
  { seconds }: WebhookJob,
  connections: readonly Connection[],
  deliver: Deliver,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < endMs) await deliver(connection, performance.now())
    }),
  )
}

/** A delivery each 1/rate seconds, whatever has become of those before it; without a free connection it waits, and that counts. */
async function fixedRate(
  { seconds, ratePerSecond }: WebhookJob & { ratePerSecond: number },
  connections: readonly Connection[],
  deliver: Deliver,
): Promise<void> {
  const idle = [...connections]
  const waiting: number[] = []
  const under = new Set<Promise<void>>()
  /** Also what waits for a connection by then. */
  const work = async (connection: Connection, dueMs: number) => {
    for (let next: number | undefined = dueMs; next !== undefined; next = waiting.shift())
      await deliver(connection, next)
    idle.push(connection)
  }
  const start = (connection: Connection, dueMs: number) => {
    const working = work(connection, dueMs).finally(() => under.delete(working))
    under.add(working)
  }
  const startMs = performance.now()
  const deliveries = Math.max(1, Math.round(ratePerSecond * seconds))
  for (let due = 0; due < deliveries;) {
    const dueMs = startMs + (due * 1000) / ratePerSecond
    if (dueMs > performance.now()) {
      await sleep(1)
      continue
    }
    due++
    const connection = idle.shift()
    if (connection === undefined) waiting.push(dueMs)
    else start(connection, dueMs)
  }
  while (under.size > 0) await Promise.all(under)
}

/** As the provider documents a payment, with an id of its own. */
function aDelivery({ url, provider, secret }: WebhookJob): string {
  const id = randomUUID()
  const body = `{"entity":"event","account_id":"acc_BFQ7uQEaa7j2z7","event":"payment.captured","contains":["payment"],"payload":{"payment":{"entity":{"id":"pay_${id}","entity":"payment","amount":100,"currency":"INR","base_amount":100,"status":"captured","order_id":"order_DESlLckIVRkHWj","invoice_id":null,"international":false,"method":"netbanking","amount_refunded":0,"captured":true,"bank":"HDFC","email":"gaurav.kumar@example.com","contact":"+919876543210","notes":[],"fee":2,"tax":0}}},"created_at":1567674606}`
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  return (
    `POST /webhooks/${provider} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\n` +
    `X-${provider}-Signature: ${signature}\r\nX-${provider}-Event-Id: evt_${id}\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  )
}
