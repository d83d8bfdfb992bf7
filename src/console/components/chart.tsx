// Lines over the seconds of the last two minutes.

export interface Second {
  /** Unix time. */
  readonly at: number
  readonly executed: number
  readonly refused: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const WIDTH = 600
const HEIGHT = 120
const SECONDS = 120

export interface Line {
  readonly name: string
  readonly of: (second: Second) => number
}

export function Chart({
  label,
  seconds,
  lines,
}: {
  readonly label: string
  readonly seconds: readonly Second[]
  readonly lines: readonly Line[]
}) {
  const last = seconds.at(-1)?.at ?? 0
  const max = Math.max(1, ...seconds.flatMap((second) => lines.map(({ of }) => of(second))))
  const x = (at: number) => WIDTH - ((last - at) / SECONDS) * WIDTH
  const y = (value: number) => HEIGHT - (value / max) * (HEIGHT - 4) - 2
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
        {lines.map(({ name, of }, i) => (
          <polyline
            key={name}
            class={`line line-${i}`}
            points={seconds
              .map((second) => `${x(second.at).toFixed(1)},${y(of(second)).toFixed(1)}`)
              .join(' ')}
          />
        ))}
      </svg>
      <figcaption>
        {lines.map(({ name }, i) => (
          <span key={name} class={`key key-${i}`}>
            {name}
          </span>
        ))}
        <span>highest {Math.round(max * 10) / 10}</span>
      </figcaption>
    </figure>
  )
}
