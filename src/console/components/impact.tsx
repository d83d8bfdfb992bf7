// The decisions of a proposed policy in the past: simulated chunk by chunk, as a report that a step-up can cover, and as the
// report that somebody's step-up covers.
import { useEffect, useRef, useState } from 'preact/hooks'
import { inMoney } from '../../core/policy/shown.ts'
import {
  addChunk,
  alsoFlipped,
  onlyRetired,
  reservations,
  simulationOf,
  undecidedText,
  type Found,
  type ProposedPolicy,
} from '../../formats/impact-report.ts'
import { canonicalize } from '../../formats/json/canonical.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import type { ImpactReport } from '../../formats/schemas/impact-report.ts'
import { counted } from '../../formats/text/text.ts'
import { againAfterMs, post, problemText } from '../api.ts'
import { sha256Hex } from '../hashing.ts'
import { absolute, shownMoney, shownSummary } from '../text.ts'
import { Badge, Hash, Panel, Problem, Said, Time } from './basic.tsx'
import { policyIn } from './changes.tsx'
import { Table, type Column } from './list.tsx'

const DAY_MS = 86_400_000

/** The time ranges that a reader can choose, by their labels. */
const RANGES: readonly (readonly [string, number | undefined])[] = [
  ['the last day', DAY_MS],
  ['the last 7 days', 7 * DAY_MS],
  ['the last 30 days', 30 * DAY_MS],
  ['everything', undefined],
]

/** The hash that a step-up covers. */
export function impactHashOf(report: ImpactReport): string {
  return sha256Hex(canonicalize(report))
}

/** @param onFound is called with the findings of a whole simulation, and with undefined when another simulation starts */
export function Impact({
  of: proposed,
  onFound,
}: {
  readonly of: ProposedPolicy
  readonly onFound?: (found: Found | undefined) => void
}) {
  const [rangeMs, setRangeMs] = useState<number | undefined>(30 * DAY_MS)
  const [found, setFound] = useState<Found>()
  const [running, setRunning] = useState(false)
  const [problem, setProblem] = useState<string>()
  // Each run increases the number, and so does leaving the page: an earlier run ends after its present chunk.
  const run = useRef(0)
  useEffect(() => () => void run.current++, [])
  const start = async () => {
    const mine = ++run.current
    const isOver = () => run.current !== mine
    setProblem(undefined)
    setFound(undefined)
    setRunning(true)
    onFound?.(undefined)
    try {
      const since = rangeMs === undefined ? {} : { since: new Date(Date.now() - rangeMs).toISOString() }
      const simulated = simulationOf(proposed)
      let all: Found | undefined
      let cursor: string | undefined
      do {
        const chunk: Chunk = await aChunk({ ...simulated, ...since, cursor }, isOver)
        if (isOver()) return
        all = addChunk(all, chunk)
        setFound(all)
        cursor = chunk.next
      } while (cursor !== undefined)
      onFound?.(all)
    } catch (error) {
      if (!isOver()) setProblem(problemText(error))
    }
    if (!isOver()) setRunning(false)
  }
  const stop = () => {
    run.current++
    setRunning(false)
  }
  return (
    <Panel title="What it would have changed">
      <p>Decide past executions again as if this change were in effect. Nothing is executed.</p>
      <div class="filters">
        <label class="filter">
          Decisions of
          <select
            value={String(rangeMs)}
            disabled={running}
            onChange={({ currentTarget }) => setRangeMs(RANGES[currentTarget.selectedIndex]?.[1])}
          >
            {RANGES.map(([name, ms]) => (
              <option key={name} value={String(ms)}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {running ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" onClick={() => void start()}>
            {found === undefined ? 'Run' : 'Run again'}
          </button>
        )}
      </div>
      <Problem text={problem} />
      {running && <progress value={found?.share ?? 0} aria-label="Share of the time that is done" />}
      {found !== undefined && (
        <>
          {!running && !found.complete && (
            <p>Stopped: these findings are not complete, so no signature can cover them.</p>
          )}
          <Findings proposed={proposed} of={found} />
        </>
      )}
    </Panel>
  )
}

type Chunk = Parameters<typeof addChunk>[1] & { readonly next?: string }

const ATTEMPTS = 10

/** Waits where the service says so: live traffic has priority, and each minute has a budget. */
async function aChunk(body: object, isOver: () => boolean): Promise<Chunk> {
  for (let attempt = 1; ; attempt++)
    try {
      return await post<Chunk>('/sandbox/policies/simulate', body)
    } catch (error) {
      const afterMs = againAfterMs(error)
      if (afterMs === undefined || attempt === ATTEMPTS || isOver()) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.min(afterMs, 60_000)))
    }
}

type Listed = Pick<ImpactReport['flips'][number], 'businessTransactionId' | 'createdAt'> &
  Partial<Pick<Found['flips'][number], 'summary' | 'amount' | 'currency'>>

/** A report, which a signature covers, has only the ids of executions. */
const execution: Column<Listed> = {
  title: 'Execution',
  cell: ({ businessTransactionId: id, summary, amount }) =>
    summary === undefined ? (
      <code title={id}>{id.slice(0, 8)}…</code>
    ) : (
      <Said text={shownSummary(summary, amount)} />
    ),
}
const amount: Column<Listed> = {
  title: 'Amount',
  number: true,
  cell: ({ amount: sum, currency }) => (sum === undefined ? '' : shownMoney(sum, currency)),
}
const when: Column<Listed> = { title: 'When', minor: true, cell: ({ createdAt }) => <Time at={createdAt} /> }
const placeOf = {
  keyOf: ({ businessTransactionId: id }: Listed) => id,
  hrefOf: ({ businessTransactionId: id }: Listed) => `/console/executions/${id}`,
}

/** More rows are folded: a report lists hundreds, and the buttons that resolve the change are below it. */
const UNFOLDED = 10

function Decisions<Row extends Listed>({
  caption,
  rows,
  columns,
}: {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
}) {
  const folded = rows.slice(UNFOLDED)
  return (
    <>
      <Table caption={caption} rows={rows.slice(0, UNFOLDED)} columns={columns} {...placeOf} />
      {folded.length > 0 && (
        <details>
          <summary>{folded.length} more</summary>
          <Table caption={`${caption}: the older ones`} rows={folded} columns={columns} {...placeOf} />
        </details>
      )}
    </>
  )
}

interface FindingsOf {
  readonly proposed: ProposedPolicy
  /** A report has no sums. */
  readonly of: Omit<ImpactReport, 'version' | 'changeId' | 'changeHash' | 'madeAt'> &
    Partial<Pick<Found, 'sums' | 'flippedAndRetired' | 'unknownSignals'>>
}

/** The counts, and each decision that would differ, with a link to its execution. */
function Findings({ proposed: { action, retires }, of }: FindingsOf) {
  const { approvedToRejected, rejectedToApproved, refusedAsRetired, decided, flips } = of
  const retired = onlyRetired(of)
  const flippedAndRetired = of.flippedAndRetired ?? of.retired.length - retired.length
  const flipped = approvedToRejected + rejectedToApproved
  return (
    <>
      {action !== 'retire' && (
        <>
          <p role="status">
            <strong>
              {counted(flipped, 'decision')} of {decided} would differ
            </strong>
            : {approvedToRejected} approved would be rejected{inMoney(of.sums?.toRejected)},{' '}
            {rejectedToApproved} rejected would be approved{inMoney(of.sums?.toApproved)}.
          </p>
          {flips.length > 0 && (
            <Decisions
              caption="Decisions that would differ"
              rows={flips}
              columns={[
                execution,
                amount,
                { title: 'Would be', cell: ({ wouldBe }) => <WouldBe {...wouldBe} /> },
                { title: 'Why', cell: ({ wouldBe }) => <Said text={wouldBe.reason} /> },
                when,
              ]}
            />
          )}
          <Newest listed={flips.length} all={flipped} />
          {reservations(of).map((sentence) => (
            <p key={sentence}>
              <strong>{sentence}</strong>
            </p>
          ))}
        </>
      )}
      {(action === 'retire' || retires !== undefined) && (
        <>
          <p role="status">
            <strong>
              {counted(refusedAsRetired, 'execution')} of {decided} would be refused
            </strong>
            {inMoney(of.sums?.retired)} because the version that approved it ends.
            {alsoFlipped({ flippedAndRetired })}
          </p>
          {retired.length > 0 && (
            <Decisions
              caption="Executions under a version that ends"
              rows={retired}
              columns={[
                execution,
                amount,
                { title: 'Version', cell: ({ version }) => <Said text={version} /> },
                when,
              ]}
            />
          )}
          <Newest listed={retired.length} all={refusedAsRetired - flippedAndRetired} />
        </>
      )}
      <p class="quiet">
        Examined {counted(of.examined, 'transaction')} from {absolute(of.since)} to {absolute(of.until)}.
        {undecidedText(of)}
      </p>
    </>
  )
}

function WouldBe({ outcome, needs }: ImpactReport['flips'][number]['wouldBe']) {
  if (needs === undefined) return <Badge status={outcome} />
  return <>waits for {needs.join(', ')}</>
}

function Newest({ listed, all }: { readonly listed: number; readonly all: number }) {
  return listed < all ? <p class="quiet">These are the newest {listed}.</p> : null
}

/** The report that the resolver's step-up covers. */
export function SeenImpact({ change }: { readonly change: Change }) {
  const { impactReport: report, resolvedBy, stepUpAuthorization } = change
  if (report === undefined) return null
  const hash = impactHashOf(report)
  const isCovered =
    stepUpAuthorization?.payload.impactHash === hash &&
    report.changeId === change.changeId &&
    report.changeHash === change.changeHash
  return (
    <Panel title="What the checker saw">
      {isCovered ? (
        <p>
          The signature of <Said text={resolvedBy ?? ''} /> covers this report, made{' '}
          <Time at={report.madeAt} />.
        </p>
      ) : (
        <Problem text="No signature covers this report: its hash is not the one that was signed, or it is of another change." />
      )}
      <Findings proposed={policyIn(change)} of={report} />
      <p>
        Hash of the report: <Hash value={hash} />
      </p>
    </Panel>
  )
}
