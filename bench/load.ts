// The load generator, a program of its own: open throttle for throughput, a fixed rate for latency; never both from one run.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { freshBody } from './transaction.ts'

export interface LoadJob {
  readonly url: string
  /** Raw API key. */
  readonly key: string
  readonly connections: number
  readonly seconds: number
  /** Requests per second; undefined is open throttle. */
  readonly ratePerSecond: number | undefined
}

export interface LoadResult {
  /** Requests that were answered, by status; 0 where the connection broke or nothing came within `ANSWER_SECONDS_MAX`. */
  readonly statuses: Readonly<Record<string, number>>
  /** From the first request to the last reply. */
  readonly seconds: number
  /** Of the generator, per request. */
  readonly cpuMicros: number
  /** At a fixed rate only: from when a request was due, so that one that had to wait for its connection counts in full. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number } | undefined
}

const ANSWER_SECONDS_MAX = 10

process.on('message', (job: LoadJob) => void load(job).then((result) => process.send?.(result)))

async function load(job: LoadJob): Promise<LoadResult> {
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  const statuses: Record<string, number> = {}
  let lastMs = startMs
  const count = (status: number) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    lastMs = performance.now()
  }
  const { ratePerSecond } = job
  const latencies =
    ratePerSecond === undefined
      ? await openThrottle(job, count)
      : await fixedRate({ ...job, ratePerSecond }, count)
  const { user, system } = process.cpuUsage(startCpu)
  const requests = Object.values(statuses).reduce((sum, n) => sum + n, 0)
  return {
    statuses,
    seconds: (lastMs - startMs) / 1000,
    cpuMicros: (user + system) / requests,
    latencyMs: latencies && percentiles(latencies),
  }
}

/** Each connection sends its next request as soon as it has its reply. */
function openThrottle(
  { url, key, connections, seconds }: LoadJob,
  count: (status: number) => void,
): Promise<undefined> {
  const clients: autocannon.Client[] = []
  return new Promise((resolve, reject) => {
    const run = autocannon(
      {
        url: `${url}/execute`,
        method: 'POST',
        headers: headers(key),
        connections,
        duration: seconds + ANSWER_SECONDS_MAX,
        timeout: ANSWER_SECONDS_MAX,
        sampleInt: 100, // how often it looks whether it is over
        requests: [{ setupRequest: (one) => ({ ...one, body: freshBody() }) }],
        setupClient: (client) => void clients.push(client),
      },
      (error: unknown) => (error ? reject(error) : resolve(undefined)),
    )
    run.on('response', (_client, status) => count(status))
    run.on('reqError', () => count(0))
    // At the end of its duration autocannon drops the requests under way, and nobody would know how many of them were executed.
    // A client that has made `responseMax` requests ends after its last reply instead: from here on that is every client.
    setTimeout(() => {
      for (const client of clients) Object.assign(client, { responseMax: 1 })
    }, seconds * 1000)
  })
}

/**
 * A request each 1/rate seconds, whatever has become of those before it, over at most `connections` connections.
 * Not autocannon's `overallRate`: that sends a second's requests one behind the other at the start of each second and rests for
 * what is left of it, which measures saturation in bursts (lib/httpClient.js of 9.0.0).
 */
async function fixedRate(
  { url, key, connections, seconds, ratePerSecond }: LoadJob & { ratePerSecond: number },
  count: (status: number) => void,
): Promise<number[]> {
  // Round robin over all connections, as callers of their own would use them.
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  const latencies: number[] = []
  const send = (dueMs: number) =>
    new Promise<void>((resolve) => {
      const body = freshBody()
      const post = request(`${url}/execute`, {
        agent,
        method: 'POST',
        headers: { ...headers(key), 'Content-Length': Buffer.byteLength(body) },
        timeout: ANSWER_SECONDS_MAX * 1000,
      })
      const end = (status: number) => {
        latencies.push(performance.now() - dueMs)
        count(status)
        resolve()
      }
      post.on('response', (response) => response.on('end', () => end(response.statusCode ?? 0)).resume())
      post.on('timeout', () => post.destroy(new Error('no reply')))
      post.on('error', () => end(0))
      post.end(body)
    })

  const replies: Promise<void>[] = []
  const requests = Math.max(1, Math.round(ratePerSecond * seconds))
  const startMs = performance.now()
  while (replies.length < requests) {
    const dueMs = startMs + (replies.length * 1000) / ratePerSecond
    if (dueMs <= performance.now()) replies.push(send(dueMs))
    else await sleep(1)
  }
  await Promise.all(replies)
  agent.destroy()
  return latencies
}

function headers(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
}

function percentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}
