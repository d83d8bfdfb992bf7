// The soak: every route at half of saturation for minutes on end. What must be seen to hold: memory and descriptors stay as they are,
// every status is the right one, and what is stored at the end proves itself (`countersign fsck`).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { cpuBetween, cpuTimes, type CpuTimes } from './cpu.ts'
import { describeMachine } from './machine.ts'
import type { MeasuredService, ServiceOptions } from './service.ts'
import { openDrive, type Drive } from './soak/drive.ts'
import { mix } from './soak/mix.ts'
import { outsideText, printedSoak, routeFigures, span, type SoakReport } from './soak/report.ts'
import {
  heapSeries,
  newest,
  threadSeries,
  outside,
  probeLines,
  slopeOf,
  type Outside,
} from './soak/samples.ts'
import type { World } from './soak/story.ts'
import { openWorld } from './soak/world.ts'

export interface SoakOptions extends ServiceOptions {
  readonly minutes: number
  /** Stories per second; undefined: half of what saturation is found to be. */
  readonly rate?: number
}

const CONNECTIONS_MAX = 64
const SATURATION_SECONDS_MAX = 10
const SHARE_OF_SATURATION = 0.5
/** Memory is looked at from here on: caches have filled, code is compiled. */
const WARM_UP_SHARE = 0.25
/** Shorter than this a slope says nothing; and up to the second V8 still takes what it likes to have, and compiles: it is told, not judged. */
const TOLD_SECONDS_MIN = 60
const JUDGED_SECONDS_MIN = 300
/** A slope is a leak where even the lower end of its interval is above this. */
const HEAP_MB_PER_HOUR_MAX = 30
const RSS_MB_PER_HOUR_MAX = 200
/** Pooled connections that come and go. */
const DESCRIPTORS_SLACK = 4
const SAMPLE_EVERY_MS = 1_000
const LINE_EVERY_MS = 10_000
/** For connections that rest to be given up (ten seconds), jobs to be done, and the probe's next line. */
const REST_MS_MAX = 30_000
const REST_MS_MIN = 6_000
const FSCK_MS_MAX = 600_000

/** out  problems  what did not hold; the report is worth reading all the same */
export async function soak(
  { minutes, rate, ...options }: SoakOptions,
  stack: AsyncDisposableStack,
): Promise<{ report: SoakReport; problems: string[] }> {
  const startedAt = new Date().toISOString()
  const machine = describeMachine()
  const folder = mkdtempSync(join(tmpdir(), 'countersign-soak-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const probeFile = join(folder, 'probe.jsonl')
  writeFileSync(probeFile, '')
  const { world, service } = await openWorld(
    { ...options, probeFile, connectionsMax: CONNECTIONS_MAX },
    stack,
  )
  const stopping = new AbortController()
  stack.defer(() => stopping.abort())
  const drive = openDrive(mix, world, stopping.signal)
  const seconds = minutes * 60

  await drive.once()
  say(`${drive.told.size} stories, each told once`)
  const saturation = rate === undefined ? await findSaturation(world, drive, seconds) : undefined
  const atRestBefore = await rested(service, undefined)
  const perSecond = rate ?? (saturation?.storiesPerSecond ?? 0) * SHARE_OF_SATURATION
  say(`${perSecond.toFixed(0)} stories a second for ${seconds.toFixed(0)} s`)
  world.client.restart()
  // Every route is among those that are counted, however short the run.
  await drive.once()
  const { samples, fromMs, toMs, cpu } = await watched(world, service, drive, { perSecond, seconds })
  const { calls } = world.client.counts()
  world.client.close()
  const atRestAfter = await rested(service, atRestBefore)
  const lines = probeLines(probeFile)

  const judgedFrom = fromMs + (toMs - fromMs) * WARM_UP_SHARE
  const within = ({ at }: { at: number }) => at >= judgedFrom && at <= toMs
  const heap = heapSeries(lines).filter(within)
  const rss = samples.filter(within).map(({ at, rssBytes }) => ({ at, bytes: rssBytes }))
  const memory = {
    heap: seconds < TOLD_SECONDS_MIN ? undefined : slopeOf(heap),
    rss: seconds < TOLD_SECONDS_MIN ? undefined : slopeOf(rss),
    heapMegabytes: span(heap.map(({ bytes }) => bytes)),
    rssMegabytes: span(rss.map(({ bytes }) => bytes)),
  }
  const descriptors = {
    atRestBefore: atRestBefore?.descriptors ?? 0,
    atRestAfter: atRestAfter?.descriptors ?? 0,
    max: Math.max(0, ...samples.map((sample) => sample.descriptors)),
  }
  const problems = [
    ...world.client.unexpected,
    ...tooMany(world.client.counts().unexpected - world.client.unexpected.length),
    ...drive.problems,
    ...(seconds < JUDGED_SECONDS_MIN ? [] : leaks(memory)),
    ...newest(lines).flatMap(({ thread, warnings }) => warnings.map((text) => `thread ${thread}: ${text}`)),
    ...(await notSettled(world.database)),
  ]
  if (descriptors.atRestAfter > descriptors.atRestBefore + DESCRIPTORS_SLACK)
    problems.push(`${descriptors.atRestAfter} descriptors at rest, ${descriptors.atRestBefore} before`)
  problems.push(...(await service.stop()))
  const fsck = await runFsck(service)
  if (fsck.exitCode !== 0)
    problems.push(`countersign fsck ended with exit code ${fsck.exitCode}:\n${fsck.output}`)
  const report: SoakReport = {
    scenario: 'soak',
    startedAt,
    machine,
    service: { listener: service.listener, threads: service.threads },
    constants: {
      minutes,
      'stories per second': Math.round(perSecond),
      connections: CONNECTIONS_MAX,
      stories: mix.length,
    },
    saturation,
    soak: { seconds: (toMs - fromMs) / 1000, calls, callsPerSecond: (calls * 1000) / (toMs - fromMs) },
    threads: threadSeries(lines, fromMs),
    cpu,
    memory,
    descriptors,
    lagMs: worstLag(lines.filter(({ at }) => at >= fromMs && at <= toMs)),
    routes: routeFigures(world.client.tallies),
    fsck,
    problems,
  }
  // Where something was wrong, the figures say what to look at.
  if (problems.length > 0) process.stderr.write(printedSoak(report))
  return { report, problems }
}

async function findSaturation(
  world: World,
  drive: Drive,
  seconds: number,
): Promise<SoakReport['saturation']> {
  const each = Math.min(SATURATION_SECONDS_MAX, seconds)
  await drive.saturate(each / 2)
  world.client.restart()
  const storiesPerSecond = await drive.saturate(each)
  const callsPerSecond = world.client.counts().calls / each
  say(`saturation at ${storiesPerSecond.toFixed(0)} stories a second, ${callsPerSecond.toFixed(0)} calls`)
  return { storiesPerSecond, callsPerSecond }
}

async function watched(
  world: World,
  service: MeasuredService,
  drive: Drive,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<{ samples: Outside[]; fromMs: number; toMs: number; cpu: CpuTimes | undefined }> {
  const samples: Outside[] = []
  const fromMs = Date.now()
  const from = cpuTimes(service.pids)
  let [sampledMs, saidMs] = [0, 0]
  const tick = () => {
    const elapsedMs = Date.now() - fromMs
    if (elapsedMs - sampledMs < SAMPLE_EVERY_MS) return
    sampledMs = elapsedMs
    const sample = outside(service.pids.service)
    if (sample !== undefined) samples.push(sample)
    if (elapsedMs - saidMs < LINE_EVERY_MS) return
    saidMs = elapsedMs
    const { calls, unexpected } = world.client.counts()
    const share = `${Math.round(elapsedMs / 1000)} of ${seconds.toFixed(0)} s`
    const seen = sample === undefined ? '' : `, ${outsideText(sample)}`
    say(`${share}: ${calls} calls, ${unexpected + drive.problems.length} wrong${seen}`)
  }
  await drive.pace({ perSecond, seconds, tick })
  const cpu = cpuBetween(from, cpuTimes(service.pids), world.client.counts().calls)
  return { samples, fromMs, toMs: Date.now(), cpu }
}

/** Without requests, until as few descriptors are open as `before`, or as few as get; undefined where nobody can tell. */
async function rested(service: MeasuredService, before: Outside | undefined): Promise<Outside | undefined> {
  const sinceMs = performance.now()
  let least = outside(service.pids.service)
  for (;;) {
    await sleep(500)
    const now = outside(service.pids.service)
    if (now === undefined || least === undefined) return undefined
    if (now.descriptors <= least.descriptors) least = now
    const ms = performance.now() - sinceMs
    if (
      ms >= REST_MS_MAX ||
      (ms >= REST_MS_MIN && before !== undefined && least.descriptors <= before.descriptors)
    )
      return least
    if (before === undefined && ms >= REST_MS_MAX / 2) return least
  }
}

function leaks({ heap, rss }: SoakReport['memory']): string[] {
  return [
    { what: 'heap', max: HEAP_MB_PER_HOUR_MAX, slope: heap },
    { what: 'RSS', max: RSS_MB_PER_HOUR_MAX, slope: rss },
  ].flatMap(({ what, max, slope }) =>
    slope === undefined || slope.perHour - slope.plusMinus <= max
      ? []
      : [`${what} grows by ${slope.perHour.toFixed(1)} ± ${slope.plusMinus.toFixed(1)} MB an hour`],
  )
}

function tooMany(more: number): string[] {
  return more > 0 ? [`and ${more} more unexpected replies`] : []
}

/** Nothing may be left under way when nobody asks for anything any more. */
async function notSettled(database: Client): Promise<string[]> {
  const { rows } = await database.query<{ what: string; count: number }>(
    `SELECT 'intents are RELEASED' AS what, count(*)::integer AS count FROM execution_intents WHERE state = 'RELEASED'
     UNION ALL SELECT 'deliveries are not processed', count(*)::integer FROM webhook_events WHERE processed_at IS NULL
     UNION ALL SELECT 'jobs are dead', count(*)::integer FROM pgboss.job WHERE name = 'webhook-events-dead'`,
  )
  return rows.filter(({ count }) => count > 0).map(({ what, count }) => `${count} ${what}`)
}

async function runFsck({ databaseUrl, signingKeyDir }: MeasuredService): Promise<SoakReport['fsck']> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'src', 'cli', 'index.ts'), 'fsck'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, SIGNING_KEY_DIR: signingKeyDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: FSCK_MS_MAX,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output = (output + chunk).slice(-10_000)))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, output }
}

function worstLag(lines: ReturnType<typeof probeLines>): SoakReport['lagMs'] {
  return [...Map.groupBy(lines, ({ thread }) => thread)].map(([thread, of]) => {
    const worst = (part: 'p50' | 'p99' | 'max') => Math.max(...of.map(({ lagMs }) => lagMs[part]))
    return { thread, p50: worst('p50'), p99: worst('p99'), max: worst('max') }
  })
}

function say(text: string): void {
  process.stderr.write(`soak: ${text}\n`)
}
