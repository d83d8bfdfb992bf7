// A plot over time: bars or lines with axes, marks with links, and the same numbers as a table.
import type uPlot from 'uplot'
import type { AlignedData, Options, Series } from 'uplot'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { lazy } from '../../formats/lazy.ts'
import { oneLine } from '../text.ts'
import { Unfolded } from './basic.tsx'

/** A colour of the style sheet: a plot is redrawn when the reader changes between light and dark. */
type Colour = 'accent' | 'quiet' | 'open' | 'bad' | 'good'

export interface Drawn {
  readonly name: string
  readonly colour: Colour
  /** A value for each time. */
  readonly values: readonly number[]
}

/** An event that may explain the plotted values. */
export interface Mark {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly label: string
  readonly href: string
}

interface PlotProps {
  readonly label: string
  /** Where each bucket begins, milliseconds since 1970, the earliest first. */
  readonly times: readonly number[]
  readonly bucketMs: number
  readonly drawn: readonly Drawn[]
  /** Bars are stacked; lines are not. */
  readonly as: 'bars' | 'lines'
  readonly marks?: readonly Mark[]
  /** Called when the reader clicks a bucket. */
  readonly onBucket?: (fromMs: number) => void
}

/** The height that the style sheet reserves. */
const HEIGHT_PX = 200
const DAY_MS = 86_400_000

export function Plot(props: PlotProps) {
  const { label, times, bucketMs, drawn, marks = [] } = props
  const root = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number | null>(null)
  const isDark = useIsDark()
  const kept = useRef(props)
  kept.current = props
  const [Plotter, setPlotter] = useState<typeof uPlot>()
  useLayoutEffect(() => {
    let isLeft = false
    // Loaded from a separate file, so that pages without a plot do not load it.
    void import('uplot').then(({ default: loaded }) => isLeft || setPlotter(() => loaded))
    return () => void (isLeft = true)
  }, [])
  const plot = useRef<uPlot>(undefined)
  const names = drawn.map(({ name }) => name).join()
  // A plot that is drawn before the numbers are loaded would be drawn again with them.
  const hasNumbers = times.length > 0
  useLayoutEffect(() => {
    const box = root.current
    if (Plotter === undefined || box === null || !hasNumbers) return undefined
    const size = () => ({ width: box.clientWidth, height: HEIGHT_PX })
    const made = new Plotter({ ...optionsOf(Plotter, kept, setAt), ...size() }, dataOf(kept.current), box)
    plot.current = made
    // The observer also reports at once, with a size that is not new.
    const observer = new ResizeObserver(() => box.clientWidth !== made.width && made.setSize(size()))
    observer.observe(box)
    return () => {
      observer.disconnect()
      plot.current = undefined
      made.destroy()
    }
  }, [Plotter, isDark, names, bucketMs, hasNumbers])
  useLayoutEffect(() => plot.current?.setData(dataOf(kept.current)), [times, drawn, marks])
  const shown = at !== null && at < times.length ? at : null
  return (
    <figure class="plot">
      <div ref={root} role="img" aria-label={label} />
      <figcaption>
        {drawn.map(({ name, colour, values }) => (
          <span key={name} class={`key ${colour}`}>
            {name}
            {shown !== null && ` ${shownNumber(values[shown] ?? 0)}`}
          </span>
        ))}
        <span>{shown === null ? 'UTC' : timeText(times[shown]!, bucketMs)}</span>
      </figcaption>
      {marks.length > 0 && (
        <ul class="plain marks">
          {marks.map((mark) => (
            <li key={`${mark.at} ${mark.href}`}>
              <a href={mark.href}>{oneLine(mark.label)}</a>{' '}
              {timeText(mark.at, Math.min(bucketMs, DAY_MS / 24))}
            </li>
          ))}
        </ul>
      )}
      <Unfolded summary="As a table" of={() => <Rows {...props} />} />
    </figure>
  )
}

/** The same numbers, for readers who do not see the plot. There may be hundreds of rows. */
function Rows({ label, times, bucketMs, drawn }: PlotProps) {
  const some = times.flatMap((time, i) => (drawn.some(({ values }) => values[i]) ? [{ time, i }] : []))
  if (some.length === 0) return <p class="empty">Nothing in this time.</p>
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      <table class="numbers">
        <caption class="hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">Begin, UTC</th>
            {drawn.map(({ name }) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {some.map(({ time, i }) => (
            <tr key={time}>
              <th scope="row">{timeText(time, bucketMs)}</th>
              {drawn.map(({ name, values }) => (
                <td key={name} class="number">
                  {shownNumber(values[i] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function useIsDark(): boolean {
  const [isDark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const follow = () => setDark(scheme.matches)
    scheme.addEventListener('change', follow)
    return () => scheme.removeEventListener('change', follow)
  }, [])
  return isDark
}

/** Stacked bars are drawn as sums, the highest first: each bar covers the lower part of the previous bar. */
function dataOf({ times, drawn, as }: PlotProps): AlignedData {
  const seconds = times.map((ms) => ms / 1000)
  if (as === 'lines') return [seconds, ...drawn.map(({ values }) => [...values])]
  const sums = drawn.map((_, upTo) =>
    times.map((_time, i) => drawn.slice(0, upTo + 1).reduce((sum, { values }) => sum + (values[i] ?? 0), 0)),
  )
  return [seconds, ...sums.toReversed()]
}

function optionsOf(
  Plotter: typeof uPlot,
  kept: { readonly current: PlotProps },
  setAt: (index: number | null) => void,
): Omit<Options, 'width' | 'height'> {
  const { drawn, as, bucketMs, times } = kept.current
  const [ink, line] = [colourOf('quiet'), colourOf('line')]
  const bars = Plotter.paths.bars?.({ size: [0.8, 40], align: 1 })
  const series: Series[] = (as === 'bars' ? drawn.toReversed() : drawn).map((one) => ({
    label: one.name,
    stroke: colourOf(one.colour),
    ...(as === 'bars'
      ? { fill: colourOf(one.colour), width: 0, ...(bars && { paths: bars }) }
      : { width: 1.5 }),
    points: { show: false },
  }))
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
  const beginMs = times[0] ?? 0
  return {
    series: [{}, ...series],
    scales: {
      x: {
        range: () => {
          const { times: now } = kept.current
          return [(now[0] ?? beginMs) / 1000, ((now.at(-1) ?? beginMs) + bucketMs) / 1000]
        },
      },
      y: { range: (_plot, _min, max) => [0, Math.max(max * 1.08, 1)] },
    },
    axes: [
      { ...axis, space: 70, values: (_plot, splits) => splits.map((at) => axisText(at * 1000, bucketMs)) },
      { ...axis, size: 48, space: 36, values: (_plot, splits) => splits.map((value) => shownNumber(value)) },
    ],
    tzDate: (at) => Plotter.tzDate(new Date(at * 1000), 'UTC'),
    legend: { show: false },
    cursor: { points: { show: false }, drag: { x: false, y: false }, y: false },
    hooks: {
      setCursor: [({ cursor }) => setAt(cursor.idx ?? null)],
      ready: [
        ({ over, cursor }) =>
          over.addEventListener('click', () => {
            const time = kept.current.times[cursor.idx ?? -1]
            if (time !== undefined) kept.current.onBucket?.(time)
          }),
      ],
      draw: [
        (plot) => {
          for (const { at } of kept.current.marks ?? []) drawMark(plot, at, colourOf('ink'))
        },
      ],
    },
  }
}

function drawMark(plot: uPlot, atMs: number, colour: string): void {
  const { ctx, bbox } = plot
  const x = Math.round(plot.valToPos(atMs / 1000, 'x', true))
  if (x < bbox.left || x > bbox.left + bbox.width) return
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio])
  ctx.beginPath()
  ctx.moveTo(x, bbox.top)
  ctx.lineTo(x, bbox.top + bbox.height)
  ctx.stroke()
  ctx.restore()
}

/** A canvas does not know `light-dark()`: the browser resolves it for an element. */
function colourOf(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

// A week has hundreds of numbers and of days: making a format takes fifty times as long as using it.
const numbers = lazy(() => new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }))
const days = lazy(() => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }))

const shownNumber = (value: number) => numbers().format(value)

function axisText(ms: number, bucketMs: number): string {
  const iso = new Date(ms).toISOString()
  const isMidnight = iso.slice(11, 16) === '00:00'
  if (bucketMs >= DAY_MS || (isMidnight && bucketMs >= DAY_MS / 24)) return dayText(ms)
  return bucketMs < 60_000 ? iso.slice(11, 19) : iso.slice(11, 16)
}

function timeText(ms: number, bucketMs: number): string {
  if (bucketMs >= DAY_MS) return dayText(ms)
  const iso = new Date(ms).toISOString()
  return `${dayText(ms)}, ${bucketMs < 60_000 ? iso.slice(11, 19) : iso.slice(11, 16)}`
}

const dayText = (ms: number) => days().format(ms)
