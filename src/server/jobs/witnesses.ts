// Has the checkpoints of the evidence log cosigned by its witnesses, on every instance. The job only waits for most of its time, so it needs
// no thread: a request costs the main thread a millisecond, once in five seconds for each witness.
import { askWitness, type WitnessAnswer } from '../../core/outbound/witness.ts'
import { noteCrypto } from '../../core/signing/log-keys.ts'
import { latestCheckpoint, servedCheckpoint, type CheckpointRow } from '../../store/tables/log-checkpoints.ts'
import { addCosignatures, cosignerOf, keepToCosign } from '../../store/tables/log-cosigned.ts'
import { readConsistency } from '../../store/tables/log-tree.ts'
import {
  noteCosigned,
  noteNotCosigned,
  readWitnesses,
  setWitnesses,
  takeDueWitnesses,
  type TakenWitnesses,
  type WitnessStatus,
} from '../../store/tables/log-witnesses.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { WitnessEndpoint, Witnesses } from '../../core/config/witnesses.ts'
import { startDueWork } from './due.ts'
import { openProblems } from './repeat.ts'

/** How often a new checkpoint is looked for: after a quiet time the log has its checkpoint cosigned within this time. */
const LOOK_EVERY_MS = 500
/** A witness may be away for this long without a warning, as when it restarts. */
const AWAY_MS = 60_000

interface Witnessing {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Age of the newest checkpoint that each witness has cosigned, seconds. A witness that has cosigned none is left out. */
  readonly ages: () => readonly { readonly witness: string; readonly ageSeconds: number }[]
  /** Sends no further requests and gives up those in flight. */
  readonly close: () => void
}

interface State {
  readonly witnesses: readonly WitnessStatus[]
  /** Size of the newest checkpoint that meets the required quorum; undefined: there is none, or no quorum is required. */
  readonly servedSize: number | undefined
  /** Since when a newer checkpoint does not meet the quorum, milliseconds since 1970. */
  readonly unmetSinceMs: number | undefined
}

const UNKNOWN: State = { witnesses: [], servedSize: undefined, unmetSinceMs: undefined }

/** @param log called for each new problem */
export function startWitnessing({
  sql,
  witnesses,
  log,
}: {
  sql: Sql
  witnesses: Witnesses
  log: { warn: (line: object, message: string) => void; info: (message: string) => void }
}): Witnessing {
  const closing = new AbortController()
  const { signal } = closing
  const urls = witnesses.endpoints.map(({ url }) => url)
  let state = UNKNOWN
  let isSet = false
  const away = openProblems(() => log.info('the evidence log is witnessed again'))
  const warn = (reason: string) => log.warn({ reason }, 'witnesses of the evidence log')

  const warnings = () => warningsOf(state, witnesses, Date.now())

  async function take(): Promise<readonly TakenWitnesses[]> {
    if (!isSet) await setWitnesses(sql, urls)
    isSet = true
    const taken = await takeDueWitnesses(sql, urls)
    return taken === undefined ? [] : [taken]
  }

  async function askAll({ checkpoint, due }: TakenWitnesses): Promise<void> {
    const served = witnesses.required && (await servedCheckpoint(sql, witnesses))
    await keepToCosign(sql, checkpoint, served?.log === checkpoint.log ? served.size : undefined)
    await Promise.all(
      due.map((one) => {
        const endpoint = witnesses.endpoints.find(({ url }) => url === one.url)!
        return haveCosigned(sql, { endpoint, checkpoint, knownSize: one.size, signal })
      }),
    )
  }

  startDueWork(signal, {
    everyMs: LOOK_EVERY_MS,
    take,
    settle: askAll,
    // Each witness has a lease of its own: failed work is tried again when the lease is over.
    onUnsettled: (_, reason) => warn(reason),
    async readState() {
      state = await readState(sql, witnesses, state)
      away.become(warnings(), warn)
    },
    onProblem: warn,
  })
  return {
    warnings,
    ages: () =>
      state.witnesses.flatMap(({ url, cosignedMs }) => {
        const witness = witnesses.endpoints.find((endpoint) => endpoint.url === url)?.name
        if (witness === undefined || cosignedMs === undefined) return []
        return [{ witness, ageSeconds: Math.max(0, (Date.now() - cosignedMs) / 1000) }]
      }),
    close: () => closing.abort(),
  }
}

/** Asks one witness, and notes the outcome. A witness whose tree has another size than was known is asked a second time. */
async function haveCosigned(
  sql: Sql,
  {
    endpoint,
    checkpoint,
    knownSize,
    signal,
  }: {
    readonly endpoint: WitnessEndpoint
    readonly checkpoint: CheckpointRow
    readonly knownSize: number
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { log, note } = checkpoint
  const ask = async (oldSize: number): Promise<WitnessAnswer> => {
    if (oldSize > checkpoint.size)
      return {
        kind: 'no',
        waitSeconds: 0,
        problem: `has cosigned ${oldSize} entries of this log, and the newest checkpoint has ${checkpoint.size}`,
      }
    const proof = oldSize === 0 ? [] : await readConsistency(sql, { log, from: oldSize, to: checkpoint.size })
    return askWitness(endpoint, { oldSize, proof, checkpoint: note }, { crypto: noteCrypto, signal })
  }
  let size = knownSize
  let answer = await ask(size)
  if (answer.kind === 'has size') {
    size = answer.size
    answer = await ask(size)
  }
  if (signal.aborted) return
  if (answer.kind === 'cosigned') {
    await addCosignatures(
      sql,
      checkpoint,
      Object.fromEntries(answer.lines.map(({ key, line }) => [cosignerOf(key), line])),
    )
    await noteCosigned(sql, endpoint.url, checkpoint)
    return
  }
  const failed =
    answer.kind === 'no'
      ? { ...answer, size }
      : { size: answer.size, problem: 'answers 409 to its own size', waitSeconds: 0 }
  await noteNotCosigned(sql, endpoint.url, { ...failed, log })
}

async function readState(sql: Sql, { required }: Witnesses, before: State): Promise<State> {
  const witnesses = await readWitnesses(sql)
  if (required === undefined) return { ...UNKNOWN, witnesses }
  const [newest, served] = await Promise.all([latestCheckpoint(sql), servedCheckpoint(sql, { required })])
  const servedSize = served?.size
  if (newest === undefined || newest.size === servedSize)
    return { witnesses, servedSize, unmetSinceMs: undefined }
  const sinceMs = before.servedSize === servedSize ? before.unmetSinceMs : undefined
  return { witnesses, servedSize, unmetSinceMs: sinceMs ?? Date.now() }
}

function warningsOf(
  { witnesses: statuses, unmetSinceMs }: State,
  witnesses: Witnesses,
  nowMs: number,
): string[] {
  const away = statuses.flatMap(({ url, failing }) => {
    const name = witnesses.endpoints.find((endpoint) => endpoint.url === url)?.name
    if (name === undefined || failing === undefined || nowMs - failing.sinceMs < AWAY_MS) return []
    return `The witness '${name}' has cosigned nothing since ${timeOf(failing.sinceMs)}: it ${failing.problem}.`
  })
  if (unmetSinceMs === undefined || nowMs - unmetSinceMs < AWAY_MS) return away
  return [
    ...away,
    `The checkpoints of the evidence log do not have the quorum of LOG_WITNESS_POLICY since ${timeOf(unmetSinceMs)}, and newer ones are not served.`,
  ]
}

const timeOf = (ms: number): string => new Date(ms).toISOString()
