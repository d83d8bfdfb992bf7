// The page "Live": what this instance does at this moment.
import { useRef, useState } from 'preact/hooks'
import { get } from '../api.ts'
import { Chart, type Second } from '../components/chart.tsx'
import { Panel, Problem } from '../components/basic.tsx'
import { useFollowed } from '../hooks.ts'

interface LiveReply {
  readonly seconds: readonly Second[]
  readonly queue: number
  /** Left out where it is not known. */
  readonly inDoubt?: number
  readonly pendingEvidence: number
}

const SECONDS_SHOWN = 120

export function Live() {
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
  const last = live?.seconds.at(-1)
  return (
    <>
      <header class="heading">
        <h1>Live</h1>
        <button type="button" onClick={() => setPaused(!paused)} aria-pressed={paused}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      </header>
      <Problem text={problem} />
      <dl class="figures">
        <Figure name="executions in the last second" value={last?.executed} />
        <Figure name="refused in it" value={last?.refused} />
        <Figure name="p99, ms" value={last?.p99Ms} />
        <Figure name="requests waiting" value={live?.queue} />
        <Figure name="in doubt" value={live?.inDoubt} />
        <Figure name="evidence not stored yet" value={live?.pendingEvidence} />
      </dl>
      <Panel title="Executions a second">
        <Chart
          label="Executions and refusals, each second of the last two minutes"
          seconds={live?.seconds ?? []}
          lines={[
            { name: 'executed', of: ({ executed }) => executed },
            { name: 'refused', of: ({ refused }) => refused },
            { name: 'failed', of: ({ failed }) => failed },
          ]}
        />
      </Panel>
      <Panel title="Time of a reply, ms">
        <Chart
          label="Median and 99th percentile of the time of an execution"
          seconds={live?.seconds ?? []}
          lines={[
            { name: 'p50', of: ({ p50Ms }) => p50Ms },
            { name: 'p99', of: ({ p99Ms }) => p99Ms },
          ]}
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
