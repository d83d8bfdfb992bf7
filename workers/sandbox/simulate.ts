// POST /sandbox/policies/simulate (decisions §9): which past decisions a policy document would flip, and which ones the end of versions would
// have refused, one bounded chunk a request.
// Nothing is stored and nothing is kept between chunks; a client that goes on sending the cursor sees the whole range.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { listPastDecisions, readOldestTime } from '../../src/store/tables/past-decisions.ts'
import { readRecordBodies } from '../../src/store/tables/trust-records.ts'
import { LEAST_UUID, type Position } from '../../src/store/tables/position.ts'
import type { Persons } from '../../src/formats/people/persons.ts'
import type { ThreadContext } from '../context.ts'
import { Finished, runStage, type InFlight } from '../in-flight.ts'
import { redecide, type Flip, type Refused } from './redecide.ts'
import { cursorOf, readSimulation, type Range, type Simulation } from './simulation.ts'

/** One chunk examines at most this many. */
const EXAMINED_MAX = 500
/** Texts of 100 KB each: this many are in memory. */
const ROWS_READ = 50
/** All chunks of a batch share this; each examines one transaction at least. */
const WORK_MS = 100
/** After this much work a simulation rests as long: half of the time is left to the other work of its thread. */
const SLICE_MS = 5

/** One after the other: all requests of a batch together keep the pace of one. */
export async function simulate(
  batch: readonly InFlight[],
  { pool, persons }: Pick<ThreadContext, 'pool' | 'persons'>,
): Promise<Finished[]> {
  const answered: Finished[] = []
  const workMs = WORK_MS / batch.length
  for (const inFlight of batch) {
    const compiling = openPace()
    const read = runStage([inFlight], readSimulation)
    await compiling.rest()
    for (const item of read) {
      if (item instanceof Finished) answered.push(item)
      else
        answered.push(
          new Finished(item.request, {
            body: JSON.stringify(await chunk(item, { pool, persons: persons.current(), workMs })),
          }),
        )
    }
  }
  return answered
}

async function chunk(
  simulation: Simulation,
  { pool, persons, workMs }: { pool: Pool; persons: Persons; workMs: number },
) {
  const pace = openPace()
  const { name, policy, retires, cursor, request } = simulation
  const callerId = request.caller.reads
  const range = cursor ?? (await rangeOf(simulation, pool))
  let below: Position = cursor?.below ?? { createdAt: range.until, id: LEAST_UUID }
  const counts = { examined: 0, decided: 0, unchanged: 0, undecided: 0, unknown: 0 }
  const flips: Flip[] = []
  const refused: Refused[] = []
  const unknownSignals = new Set<string>()
  const mayGoOn = () => counts.examined === 0 || (counts.examined < EXAMINED_MAX && pace.workedMs() < workMs)
  let complete = false

  while (!complete && mayGoOn()) {
    const limit = Math.min(ROWS_READ, EXAMINED_MAX - counts.examined)
    // One more than is examined: it shows whether there is a next chunk, and the last one is never empty.
    const rows = await listPastDecisions(pool, {
      callerId,
      policy: name,
      since: range.since,
      below,
      limit: limit + 1,
    })
    // Only the records have the signals that were filled in then.
    const verifying = policy !== undefined && policy.verify.length > 0
    const ids = rows.filter((row) => verifying && row.released && row.body !== null).map(({ id }) => id)
    const records = ids.length === 0 ? undefined : await readRecordBodies(pool, ids)
    pace.start()
    let looked = 0
    for (const row of rows.slice(0, limit)) {
      if (!mayGoOn()) break
      const redecided = redecide({ ...row, record: records?.get(row.id) }, { ...simulation, persons })
      if (redecided === 'undecided') counts.undecided++
      else if (redecided !== 'other') {
        counts.decided++
        if (redecided.flip !== undefined) flips.push(redecided.flip)
        if (redecided.refused !== undefined) refused.push(redecided.refused)
        const isChanged = policy === undefined ? redecided.refused : redecided.flip
        for (const signal of redecided.unknown ?? []) unknownSignals.add(signal)
        if (redecided.unknown !== undefined) counts.unknown++
        else if (isChanged === undefined) counts.unchanged++
      }
      counts.examined++
      looked++
      below = row
      if (pace.isDue()) await pace.rest()
    }
    await pace.rest()
    complete = looked === rows.length
  }

  request.costMs += pace.workedMs()
  const until = complete ? range.since : below.createdAt
  return {
    complete,
    progress: {
      examined: counts.examined,
      decided: counts.decided,
      until,
      share: complete ? 1 : shareOf(range, until),
    },
    flips,
    ...(retires.size === 0 ? {} : { retired: refused }),
    unchanged: counts.unchanged,
    skipped: counts.undecided,
    unknown: counts.unknown,
    ...(unknownSignals.size === 0 ? {} : { unknownSignals: [...unknownSignals].toSorted() }),
    range: { since: range.since, until: range.until },
    ...(complete ? {} : { next: cursorOf(range, below) }),
  }
}

/** Begins with the oldest transaction, so that the share means something. Fixed for all chunks: later transactions are not the past. */
async function rangeOf({ since, until, request }: Simulation, pool: Pool): Promise<Range> {
  const end = until ?? new Date().toISOString()
  const oldest = (await readOldestTime(pool, request.caller.reads)) ?? end
  return { since: since !== null && since > oldest ? since : oldest, until: end }
}

/** The share of the range's time that is done, from 0 to 1, rounded down. */
function shareOf({ since, until }: Range, reached: string): number {
  const [from, to, at] = [since, until, reached].map((time) => Date.parse(time)) as [number, number, number]
  const share = to > from ? (to - at) / (to - from) : 1
  return Math.floor(Math.min(Math.max(share, 0), 1) * 10_000) / 10_000
}

/** Counts working time, without the time of the database, and rests for as long. */
function openPace() {
  let startedMs = performance.now()
  let workedMs = 0
  const sliceMs = () => performance.now() - startedMs
  return {
    start() {
      startedMs = performance.now()
    },
    workedMs: () => workedMs + sliceMs(),
    isDue: () => sliceMs() >= SLICE_MS,
    async rest() {
      const slice = sliceMs()
      workedMs += slice
      if (slice >= SLICE_MS) await delay(slice)
      startedMs = performance.now()
    },
  }
}
