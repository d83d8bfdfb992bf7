// The present activity of the instance that answers, second by second.
import { useMemo, useRef, useState } from 'preact/hooks'
import { get } from '../api.ts'
import { useFollowed } from '../hooks.ts'
import { Panel, Problem } from './basic.tsx'
import { Plot } from './plot.tsx'

interface Second {
  /** Unix time. */
  readonly at: number
  readonly executed: number
  readonly refused: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface LiveReply {
  readonly seconds: readonly Second[]
  readonly queue: number
  /** Left out where it is not known. */
  readonly inDoubt?: number
  readonly pendingEvidence: number
}

const SECONDS_SHOWN = 120

export function Now() {
  const [live, setLive] = useState<LiveReply>()
  const [paused, setPaused] = useState(false)
  const isPaused = useRef(false)
  isPaused.current = paused
  const problem = useFollowed(() => {
    let after = 0
    let seconds: readonly Second[] = []
    return async (signal) => {
      const { data } = await get<LiveReply>(`/console/data/live?after=${after}`, { signal, wait: 5 })
      seconds = [...seconds, ...data.seconds].slice(-SECONDS_SHOWN)
      after = seconds.at(-1)?.at ?? after
      if (!isPaused.current) setLive({ ...data, seconds })
      return 0
    }
  })
  const seconds = live?.seconds ?? []
  const last = seconds.at(-1)
  const of = (read: (second: Second) => number) => seconds.map(read)
  const shown = useMemo(
    () => ({
      times: of(({ at }) => at * 1000),
      executions: [
        { name: 'executed', colour: 'accent', values: of(({ executed }) => executed) },
        { name: 'refused', colour: 'quiet', values: of(({ refused }) => refused) },
        { name: 'failed', colour: 'bad', values: of(({ failed }) => failed) },
      ] as const,
      replies: [
        { name: 'p50', colour: 'accent', values: of(({ p50Ms }) => p50Ms) },
        { name: 'p99', colour: 'open', values: of(({ p99Ms }) => p99Ms) },
      ] as const,
    }),
    [live],
  )
  return (
    <>
      <Problem text={problem} />
      <dl class="figures">
        <Figure name="executions in the last second" value={last?.executed} />
        <Figure name="refused in it" value={last?.refused} />
        <Figure name="p99, ms" value={last?.p99Ms} />
        <Figure name="requests waiting" value={live?.queue} />
        <Figure name="in doubt" value={live?.inDoubt} />
        <Figure name="evidence not stored yet" value={live?.pendingEvidence} />
      </dl>
      <Panel
        title="Executions a second"
        action={
          <button type="button" onClick={() => setPaused(!paused)} aria-pressed={paused}>
            {paused ? 'Go on' : 'Pause'}
          </button>
        }
      >
        <Plot
          label="Executions and refusals, each second of the last two minutes"
          as="bars"
          bucketMs={1_000}
          times={shown.times}
          drawn={shown.executions}
        />
      </Panel>
      <Panel title="Time of a reply, ms">
        <Plot
          label="Median and 99th percentile of the time of an execution"
          as="lines"
          bucketMs={1_000}
          times={shown.times}
          drawn={shown.replies}
        />
      </Panel>
      <p class="quiet">
        Of the instance that answers this page. All instances together are in the metrics (METRICS_PORT).
      </p>
    </>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: number | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === undefined ? '–' : Math.round(value * 10) / 10}</dd>
    </div>
  )
}
