// The soak: every route at half of saturation for many minutes. It checks that memory and descriptors stay as they are, every status is
// the right one, and the stored evidence proves itself at the end (`countersign fsck`).
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { CHECKOUT } from './npm-start.ts'
import { UNFINISHED } from './left.ts'
import { number } from './options.ts'
import { say, type Program } from './scenario.ts'
import { temporaryFolder, type MeasuredService } from './service.ts'
import { changeStories } from './soak/changes.ts'
import { deliveryStories } from './soak/deliveries.ts'
import { openDrive } from './soak/drive.ts'
import { executionStories } from './soak/executions.ts'
import { readStories } from './soak/reads.ts'
import { refusedStories } from './soak/refused.ts'
import type { Story } from './soak/story.ts'
import { memoryOf, observe, outside, probeLines, soakTables, type Memory } from './soak/watch.ts'
import { openWorld } from './soak/world.ts'

/** All stories. Together they go to every route of the table (test/bench.test.ts). */
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
/** In shorter runs V8 still grows and compiles: a slope is reported, not judged, and descriptors at rest are not waited for. */
const JUDGED_SECONDS_MIN = 300
/** A slope is a leak where even the lower end of its interval is above this. */
const MB_PER_HOUR_MAX = { heap: 30, RSS: 200 }
/** Pooled connections that come and go. */
const DESCRIPTORS_SLACK = 4
/** The time for idle connections to be closed (ten seconds), jobs to be done, and the probe to write its next line. */
const REST_MS_MAX = 30_000
const REST_MS_MIN = 6_000
const FSCK_MS_MAX = 600_000

interface SoakOptions {
  readonly minutes: number
  /** Stories per second; undefined: half of the saturation that is found. */
  readonly rate?: number
}

export const soakProgram: Program<SoakOptions> = {
  name: 'soak',
  description: 'every route at half of saturation: memory, descriptors, statuses, and fsck at the end',
  help: `
--minutes <n>  how long (default: 10)
--rate <n>  stories per second (default: half of saturation)`,
  parse: { minutes: number(0.01, 10_000), rate: number(0.1, 100_000) },
  defaults: { minutes: 10 },
  measure: soak,
}

async function soak({ minutes, rate }: SoakOptions, stack: AsyncDisposableStack) {
  const probeFile = join(temporaryFolder(stack), 'probe.jsonl')
  writeFileSync(probeFile, '')
  const { world, service, tallies, disconnect } = await openWorld(
    { probeFile, connections: CONNECTIONS },
    stack,
  )
  const stopping = new AbortController()
  stack.defer(() => stopping.abort())
  const drive = openDrive(mix, world, stopping.signal)
  const seconds = minutes * 60
  const isJudged = seconds >= JUDGED_SECONDS_MIN

  await drive.once()
  say(`${mix.length} stories, each told once`)
  const saturated = async (each: number) => {
    await drive.saturate(each / 2)
    return drive.saturate(each)
  }
  const perSecond = rate ?? (await saturated(Math.min(SATURATION_SECONDS_MAX, seconds))) * SHARE_OF_SATURATION
  const before = isJudged ? await rested(service, undefined) : undefined
  say(`${perSecond.toFixed(0)} stories a second for ${seconds.toFixed(0)} s`)
  tallies.clear()
  // This counts every route, however short the run.
  await drive.once()
  const observed = await observe(() => drive.pace(perSecond, seconds), { drive, service, tallies }, stack)
  disconnect()
  const after = isJudged ? await rested(service, before) : undefined
  const lines = probeLines(probeFile)
  const memory = memoryOf(observed, lines)

  const isLeft = after !== undefined && before !== undefined && after > before + DESCRIPTORS_SLACK
  const problems = [
    ...drive.problems(),
    ...(isJudged ? leaks(memory) : []),
    ...new Set(lines.flatMap(({ thread, warnings }) => warnings.map((text) => `thread ${thread}: ${text}`))),
    ...(await notSettled(world.database)),
    ...(isLeft ? [`${after} descriptors at rest, ${before} before`] : []),
    ...(await service.stop()),
    ...fsck(service),
  ]
  const report = { ...soakTables(observed, memory, lines, { before, after }), service: service.about }
  const load = { 'stories per second': Math.round(perSecond), connections: CONNECTIONS }
  // Where something was wrong, the figures help to find the cause.
  return { report, problems, constants: { minutes, ...load, stories: mix.length }, isWorthReading: true }
}

/**
 * Waits without requests until no more descriptors are open than `before`, or until the time is over.
 *
 * @returns the lowest number of descriptors; undefined where the system does not tell
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

function leaks(memory: Memory): string[] {
  return (['heap', 'RSS'] as const).flatMap((what) => {
    const { slope } = memory[what]
    if (slope === undefined || slope.perHour - slope.plusMinus <= MB_PER_HOUR_MAX[what]) return []
    return [`${what} grows by ${slope.perHour.toFixed(1)} ± ${slope.plusMinus.toFixed(1)} MB an hour`]
  })
}

/** Work may not stay unfinished for long after the last request. */
async function notSettled(database: Client): Promise<string[]> {
  const sinceMs = performance.now()
  for (;;) {
    const { rows } = await database.query<{ what: string; count: number }>(
      `SELECT 'executions are unfinished' AS what, count(*)::integer AS count FROM ${UNFINISHED}
       UNION ALL SELECT 'deliveries are not processed', count(*)::integer FROM webhook_events WHERE processed_at IS NULL
       UNION ALL SELECT 'jobs are dead', count(*)::integer FROM pgboss.job WHERE name = 'webhook-events-dead'`,
    )
    const left = rows.filter(({ count }) => count > 0).map(({ what, count }) => `${count} ${what}`)
    if (left.length === 0 || performance.now() - sinceMs > REST_MS_MAX) return left
    await sleep(100)
  }
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
