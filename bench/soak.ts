// The soak: every route at half of saturation for minutes on end. What must be seen to hold: memory and descriptors stay as they are,
// every status is the right one, and what is stored at the end proves itself (`countersign fsck`).
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { cpuBetween, cpuFigures, cpuTimes } from './cpu.ts'
import { figuresOf, sum, type Round } from './figures.ts'
import { markdown } from './markdown.ts'
import { CHECKOUT } from './npm-start.ts'
import { startReport, type Measurement, type Report } from './report.ts'
import { say, type Measured } from './scenario.ts'
import { temporaryFolder, type MeasuredService } from './service.ts'
import { changeStories } from './soak/changes.ts'
import type { RouteTally } from './soak/client.ts'
import { deliveryStories } from './soak/deliveries.ts'
import { openDrive, type Drive } from './soak/drive.ts'
import { executionStories } from './soak/executions.ts'
import type { ProbeLine } from './soak/probe.ts'
import { readStories } from './soak/reads.ts'
import { refusedStories } from './soak/refused.ts'
import {
  heapSeries,
  outside,
  probeLines,
  slopeOf,
  type Outside,
  type Sample,
  type Slope,
} from './soak/samples.ts'
import type { Story } from './soak/story.ts'
import { openWorld } from './soak/world.ts'

/** Every story there is. Between them they go to every route of the table (test/bench-soak.test.ts). */
export const mix: readonly Story[] = [
  ...executionStories,
  ...readStories,
  ...refusedStories,
  ...deliveryStories,
  ...changeStories,
]

const CONNECTIONS = 64
const SATURATION_SECONDS_MAX = 10
const SHARE_OF_SATURATION = 0.5
/** Memory is looked at from here on: caches have filled, code is compiled. */
const WARM_UP_SHARE = 0.25
/** Before that V8 still grows and compiles: a slope is told, not judged. */
const JUDGED_SECONDS_MIN = 300
/** A slope is a leak where even the lower end of its interval is above this. */
const HEAP_MB_PER_HOUR_MAX = 30
const RSS_MB_PER_HOUR_MAX = 200
/** Pooled connections that come and go. */
const DESCRIPTORS_SLACK = 4
const SAMPLE_EVERY_MS = 1_000
const SAMPLES_PER_LINE = 10
/** For connections that rest to be given up (ten seconds), jobs to be done, and the probe's next line. */
const REST_MS_MAX = 30_000
const REST_MS_MIN = 6_000
const FSCK_MS_MAX = 600_000

/**
 * @param rate stories per second; undefined: half of what saturation is found to be
 * @returns the report, which is worth reading also where there are problems
 */
export async function soak(
  { minutes, rate, command }: { minutes: number; rate?: number; command: string },
  stack: AsyncDisposableStack,
): Promise<Measured<Report>> {
  const reported = startReport()
  const probeFile = join(temporaryFolder(stack), 'probe.jsonl')
  writeFileSync(probeFile, '')
  const { world, service, disconnect } = await openWorld({ probeFile, connections: CONNECTIONS }, stack)
  const { client } = world
  const stopping = new AbortController()
  stack.defer(() => stopping.abort())
  const drive = openDrive(mix, world, stopping.signal)
  const seconds = minutes * 60

  await drive.once()
  say(`${mix.length} stories, each told once`)
  const perSecond = rate ?? (await findSaturation(drive, seconds)) * SHARE_OF_SATURATION
  const before = await rested(service, undefined)
  say(`${perSecond.toFixed(0)} stories a second for ${seconds.toFixed(0)} s`)
  client.tallies.clear()
  // Every route is among those that are counted, however short the run.
  await drive.once()
  const fromMs = Date.now()
  const fromCpu = cpuTimes(service.pids)
  const samples: Outside[] = []
  const sampling = setInterval(() => {
    const sample = outside(service.pids.service)
    if (sample !== undefined) samples.push(sample)
    if (samples.length % SAMPLES_PER_LINE === 1) say(progress(samples, drive))
  }, SAMPLE_EVERY_MS)
  stack.defer(() => clearInterval(sampling))
  await drive.pace(perSecond, seconds)
  clearInterval(sampling)
  const toMs = Date.now()
  const calls = sum([...client.tallies.values()].map(({ times }) => times.count()))
  const cpu = cpuBetween(fromCpu, cpuTimes(service.pids), calls)
  await disconnect()
  const after = await rested(service, before)
  const lines = probeLines(probeFile)

  const judgedFrom = fromMs + (toMs - fromMs) * WARM_UP_SHARE
  const judged = ({ at }: Sample) => at >= judgedFrom && at <= toMs
  const [heap, rss] = [heapSeries(lines).filter(judged), samples.filter(judged)]
  const [heapSlope, rssSlope] = [slopeOf(heap), slopeOf(rss)]
  const problems = [
    ...drive.problems,
    ...(seconds < JUDGED_SECONDS_MIN
      ? []
      : [...leak('heap', HEAP_MB_PER_HOUR_MAX, heapSlope), ...leak('RSS', RSS_MB_PER_HOUR_MAX, rssSlope)]),
    ...new Set(lines.flatMap(({ thread, warnings }) => warnings.map((text) => `thread ${thread}: ${text}`))),
    ...(await notSettled(world.database)),
  ]
  const more = drive.problemCount() - drive.problems.length
  if (more > 0) problems.push(`and ${more} more stories went wrong`)
  if (before !== undefined && after !== undefined && after > before + DESCRIPTORS_SLACK)
    problems.push(`${after} descriptors at rest, ${before} before`)
  problems.push(...(await service.stop()), ...fsck(service))

  const { listener, threads } = service
  const report = reported({
    subject: 'a fresh service on this machine',
    command,
    constants: {
      minutes,
      'stories per second': Math.round(perSecond),
      connections: CONNECTIONS,
      stories: mix.length,
    },
    scenarios: [
      {
        name: 'soak',
        description: 'every route at half of saturation',
        service: { listener, threads },
        labels: '',
        measurements: [
          row('all calls', {
            'calls/s': (calls * 1000) / (toMs - fromMs),
            ...cpuFigures(cpu),
          }),
        ],
        further: {
          'Memory, MB (10⁶ bytes)': [
            row('heap, after collection', memoryRound(heap, heapSlope)),
            row('RSS', memoryRound(rss, rssSlope)),
          ],
          Descriptors: [
            row('of the service', {
              'at rest before': before,
              'at rest after': after,
              'at most': Math.max(0, ...samples.map(({ descriptors }) => descriptors)),
            }),
          ],
          'Delay of the event loops, the worst of each': delays(
            lines.filter(({ at }) => at >= fromMs && at <= toMs),
          ),
          Routes: routeRows(client.tallies),
        },
        checked: { replies: calls, verifiedOffline: 0 },
      },
    ],
  })
  // Where something was wrong, the figures say what to look at.
  if (problems.length > 0) process.stderr.write(markdown(report))
  return { report, problems }
}

/** @returns stories per second */
async function findSaturation(drive: Drive, seconds: number): Promise<number> {
  const each = Math.min(SATURATION_SECONDS_MAX, seconds)
  await drive.saturate(each / 2)
  return drive.saturate(each)
}

function progress(samples: readonly Outside[], { problemCount }: Drive): string {
  const { bytes, descriptors } = samples.at(-1) ?? { bytes: 0, descriptors: 0 }
  const memory = `RSS ${(bytes / 1e6).toFixed(0)} MB, ${descriptors} descriptors`
  return `${samples.length} samples: ${memory}, ${problemCount()} wrong`
}

/**
 * Waits without requests until no more descriptors are open than `before`, or as few as get.
 *
 * @returns descriptors; undefined where nobody can tell
 */
async function rested(service: MeasuredService, before: number | undefined): Promise<number | undefined> {
  const sinceMs = performance.now()
  let least = Number.POSITIVE_INFINITY
  for (;;) {
    await sleep(500)
    const now = outside(service.pids.service)
    if (now === undefined) return undefined
    least = Math.min(least, now.descriptors)
    const ms = performance.now() - sinceMs
    const isEnough = before !== undefined && ms >= REST_MS_MIN && least <= before
    if (isEnough || ms >= (before === undefined ? REST_MS_MAX / 2 : REST_MS_MAX)) return least
  }
}

function leak(what: string, max: number, slope: Slope | undefined): string[] {
  if (slope === undefined || slope.perHour - slope.plusMinus <= max) return []
  return [`${what} grows by ${slope.perHour.toFixed(1)} ± ${slope.plusMinus.toFixed(1)} MB an hour`]
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

function fsck({ databaseUrl, signingKeyDir }: MeasuredService): string[] {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(CHECKOUT, 'bin', 'countersign.js'), 'fsck'],
    {
      env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, SIGNING_KEY_DIR: signingKeyDir },
      encoding: 'utf8',
      timeout: FSCK_MS_MAX,
    },
  )
  return status === 0 ? [] : [`countersign fsck ended with exit code ${status}:\n${stdout}${stderr}`]
}

function row(label: string, round: Round): Measurement {
  return { label, figures: figuresOf([round]) }
}

function memoryRound(series: readonly Sample[], slope: Slope | undefined): Round {
  const megabytes = series.map(({ bytes }) => bytes / 1e6)
  return {
    'MB/hour': slope?.perHour,
    '±': slope?.plusMinus,
    first: megabytes[0],
    last: megabytes.at(-1),
    max: Math.max(0, ...megabytes),
  }
}

function delays(lines: readonly ProbeLine[]): Measurement[] {
  return [...Map.groupBy(lines, ({ thread }) => thread)].map(([thread, of]) => {
    const worst = (part: 'p99' | 'max') => Math.max(...of.map(({ delayMs }) => delayMs[part]))
    const round = { 'delay p99 ms': worst('p99'), 'delay max ms': worst('max') }
    return row(thread === 0 ? 'front end' : `thread ${thread}`, round)
  })
}

/** The busiest route first, with a column for each status. */
function routeRows(tallies: ReadonlyMap<string, RouteTally>): Measurement[] {
  const statuses = [...new Set([...tallies.values()].flatMap((tally) => [...tally.statuses.keys()]))]
  return [...tallies]
    .toSorted(([, a], [, b]) => b.times.count() - a.times.count())
    .map(([label, tally]) => ({
      label,
      figures: figuresOf([
        {
          calls: tally.times.count(),
          'call p50 ms': tally.times.ms(50),
          'call p99 ms': tally.times.ms(99),
          'call max ms': tally.times.ms(100),
          ...Object.fromEntries(
            statuses
              .toSorted((a, b) => a - b)
              .map((status) => [`${status}s`, tally.statuses.get(status) ?? 0]),
          ),
        },
      ]),
    }))
}
