// The soak: every route at half of saturation for minutes on end. What must be seen to hold: memory and descriptors stay as they are,
// every status is the right one, and what is stored at the end proves itself (`countersign fsck`).
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { markdown } from './markdown.ts'
import { CHECKOUT } from './npm-start.ts'
import { FRESH, startReport, type Report } from './report.ts'
import { say, type Measured } from './scenario.ts'
import { temporaryFolder, type MeasuredService } from './service.ts'
import { changeStories } from './soak/changes.ts'
import { deliveryStories } from './soak/deliveries.ts'
import { openDrive, type Drive } from './soak/drive.ts'
import { executionStories } from './soak/executions.ts'
import { readStories } from './soak/reads.ts'
import { refusedStories } from './soak/refused.ts'
import { memoryOf, observe, outside, probeLines, type Descriptors, type Memory } from './soak/samples.ts'
import type { Story } from './soak/story.ts'
import { soakTables } from './soak/tables.ts'
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
/** Before that V8 still grows and compiles: a slope is told, not judged. */
const JUDGED_SECONDS_MIN = 300
/** A slope is a leak where even the lower end of its interval is above this. */
const MB_PER_HOUR_MAX = { heap: 30, RSS: 200 }
/** Pooled connections that come and go. */
const DESCRIPTORS_SLACK = 4
/** For connections that rest to be given up (ten seconds), jobs to be done, and the probe's next line. */
const REST_MS_MAX = 30_000
const REST_MS_MIN = 6_000
const FSCK_MS_MAX = 600_000

/**
 * @param rate stories per second; undefined: half of what saturation is found to be
 * @param stack takes what has to be undone
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
  const stopping = new AbortController()
  stack.defer(() => stopping.abort())
  const drive = openDrive(mix, world, stopping.signal)
  const seconds = minutes * 60

  await drive.once()
  say(`${mix.length} stories, each told once`)
  const perSecond = rate ?? (await findSaturation(drive, seconds)) * SHARE_OF_SATURATION
  const before = await rested(service, undefined)
  say(`${perSecond.toFixed(0)} stories a second for ${seconds.toFixed(0)} s`)
  world.client.tallies.clear()
  // Every route is among those that are counted, however short the run.
  await drive.once()
  const load = () => drive.pace(perSecond, seconds)
  const observed = await observe(load, { drive, service, tallies: world.client.tallies }, stack)
  disconnect()
  const descriptors = { before, after: await rested(service, before) }
  const lines = probeLines(probeFile)
  const memory = memoryOf(observed, lines)

  const problems = [
    ...drive.problems(),
    ...(seconds < JUDGED_SECONDS_MIN ? [] : leaks(memory)),
    ...new Set(lines.flatMap(({ thread, warnings }) => warnings.map((text) => `thread ${thread}: ${text}`))),
    ...(await notSettled(world.database)),
    ...stillOpen(descriptors),
    ...(await service.stop()),
    ...fsck(service),
  ]
  const scenario = { ...soakTables(observed, memory, lines, descriptors), service: service.about }
  const constants = {
    minutes,
    'stories per second': Math.round(perSecond),
    connections: CONNECTIONS,
    stories: mix.length,
  }
  const report = reported({ subject: FRESH, command, constants, scenarios: [scenario] })
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

function leaks(memory: Memory): string[] {
  return (['heap', 'RSS'] as const).flatMap((what) => {
    const { slope } = memory[what]
    if (slope === undefined || slope.perHour - slope.plusMinus <= MB_PER_HOUR_MAX[what]) return []
    return [`${what} grows by ${slope.perHour.toFixed(1)} ± ${slope.plusMinus.toFixed(1)} MB an hour`]
  })
}

function stillOpen({ before, after }: Descriptors): string[] {
  if (before === undefined || after === undefined || after <= before + DESCRIPTORS_SLACK) return []
  return [`${after} descriptors at rest, ${before} before`]
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
