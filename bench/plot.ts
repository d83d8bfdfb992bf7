// Plots as inline SVG for the report's page: lines over a number, and bars in parts. Colours are the page's own variables, so that a
// plot follows light and dark; whatever a point says can be read by pointing at it (<title>).

export interface Line {
  readonly name: string
  readonly points: readonly {
    readonly x: number
    readonly y: number
    readonly low?: number
    readonly high?: number
  }[]
}

export interface LinePlot {
  readonly title: string
  /** Under the x axis, and of y in what a point says. */
  readonly xLabel: string
  readonly yLabel: string
  readonly lines: readonly Line[]
  /** Where the x axis is marked; where it is left out, the axis begins at 0 and marks itself. */
  readonly xTicks?: readonly { readonly at: number; readonly text: string }[]
  readonly isLogY?: boolean
  /** A point at each value, for few of them. */
  readonly hasDots?: boolean
}

export interface BarPlot {
  readonly title: string
  readonly unit: string
  /** Names of the parts, in the order of their colours. */
  readonly parts: readonly string[]
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[]
}

const WIDTH = 480
const HEIGHT = 260
const FRAME = { left: 54, right: 24, top: 14, bottom: 40 }
const BAR_HEIGHT = 18
const BAR_GAP = 9

export function linePlot({ title, xLabel, yLabel, lines, xTicks, isLogY, hasDots }: LinePlot): string {
  const points = lines.flatMap((line) => line.points)
  if (points.length === 0) return ''
  const xs = points.map(({ x }) => x)
  const ys = points.flatMap(({ y, low = y, high = y }) => [y, low, high])
  const yTicks = isLogY === true ? logTicks(ys) : ticksTo(Math.max(...ys))
  const [first, last] = [xTicks === undefined ? 0 : Math.min(...xs), Math.max(...xs)]
  const toX = scale([first, last], [FRAME.left, WIDTH - FRAME.right])
  const yRange = [yTicks[0] ?? 0, yTicks.at(-1) ?? 1] as const
  const toY =
    isLogY === true
      ? (y: number) =>
          scale(yRange.map(Math.log10) as [number, number], [HEIGHT - FRAME.bottom, FRAME.top])(
            Math.log10(Math.max(y, yRange[0])),
          )
      : scale(yRange, [HEIGHT - FRAME.bottom, FRAME.top])
  const marks = xTicks ?? ticksTo(last).map((at) => ({ at, text: short(at) }))
  const grid = yTicks.map(
    (at) =>
      `<line class="grid" x1="${FRAME.left}" x2="${WIDTH - FRAME.right}" y1="${px(toY(at))}" y2="${px(toY(at))}"/>` +
      `<text x="${FRAME.left - 8}" y="${px(toY(at) + 4)}" text-anchor="end">${short(at)}</text>`,
  )
  const xAxis = marks
    .filter(({ at }) => at >= first && at <= last)
    .map(
      ({ at, text }) =>
        `<text x="${px(toX(at))}" y="${HEIGHT - FRAME.bottom + 18}" text-anchor="middle">${escaped(text)}</text>`,
    )
  const drawn = lines.map(({ name, points: of }, i) => {
    const path = of.map(({ x, y }, n) => `${n === 0 ? 'M' : 'L'}${px(toX(x))} ${px(toY(y))}`).join('')
    const dots = of.map(({ x, y, low, high }) => {
      const text = `${name === '' ? '' : `${name}, `}${marks.find(({ at }) => at === x)?.text ?? short(x)}: ${short(y)} ${yLabel}`
      const range =
        low === undefined || high === undefined || low === high
          ? ''
          : `<line class="range c${i}" x1="${px(toX(x))}" x2="${px(toX(x))}" y1="${px(toY(low))}" y2="${px(toY(high))}"/>`
      return hasDots === true
        ? `${range}<circle class="c${i}" cx="${px(toX(x))}" cy="${px(toY(y))}" r="3.5"><title>${escaped(text)}</title></circle>`
        : ''
    })
    return `<path class="line c${i}" d="${path}"/>${dots.join('')}`
  })
  return figure({ title, unit: yLabel, names: lines.map(({ name }) => name), height: HEIGHT }, [
    ...grid,
    ...xAxis,
    `<text x="${(WIDTH + FRAME.left - FRAME.right) / 2}" y="${HEIGHT - 4}" text-anchor="middle" class="label">${escaped(xLabel)}</text>`,
    ...drawn,
  ])
}

/** Horizontal, one below the other, their parts side by side. */
export function barPlot({ title, unit, parts, bars }: BarPlot): string {
  if (bars.length === 0) return ''
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const left = Math.min(150, 16 + 7 * Math.max(...bars.map(({ name }) => name.length)))
  const ticks = ticksTo(Math.max(...totals))
  const toX = scale([0, ticks.at(-1) ?? 1], [left, WIDTH - 50])
  const height = FRAME.top + bars.length * (BAR_HEIGHT + BAR_GAP) + 26
  const grid = ticks.map(
    (at) =>
      `<line class="grid" x1="${px(toX(at))}" x2="${px(toX(at))}" y1="${FRAME.top - 4}" y2="${height - 24}"/>` +
      `<text x="${px(toX(at))}" y="${height - 8}" text-anchor="middle">${short(at)}</text>`,
  )
  const drawn = bars.map(({ name, values }, row) => {
    const y = FRAME.top + row * (BAR_HEIGHT + BAR_GAP)
    let x = 0
    const segments = values.map((value, part) => {
      const from = toX(x)
      x += value
      const text = `${name}${parts[part] === undefined || parts[part] === '' ? '' : `, ${parts[part]}`}: ${short(value)} ${unit}`
      return `<rect class="c${part}" x="${px(from)}" y="${y}" width="${px(Math.max(0, toX(x) - from))}" height="${BAR_HEIGHT}"><title>${escaped(text)}</title></rect>`
    })
    return (
      `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${escaped(name)}</text>${segments.join('')}` +
      `<text class="value" x="${px(toX(x) + 6)}" y="${y + 13}">${short(totals[row] ?? 0)}</text>`
    )
  })
  return figure({ title, unit, names: parts, height }, [...grid, ...drawn])
}

function figure(
  { title, unit, names, height }: { title: string; unit: string; names: readonly string[]; height: number },
  content: readonly string[],
): string {
  const isNamed = names.some((name) => name !== '')
  const legend = !isNamed
    ? ''
    : `<div class="legend">${names.map((name, i) => `<span><i class="c${i}"></i>${escaped(name)}</span>`).join('')}</div>`
  return (
    `<figure><figcaption>${escaped(title)} <small>${escaped(unit)}</small></figcaption>${legend}` +
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">${content.join('')}</svg></figure>`
  )
}

function scale([from, to]: readonly [number, number], [start, end]: readonly [number, number]) {
  return (value: number) =>
    to === from ? (start + end) / 2 : start + ((value - from) / (to - from)) * (end - start)
}

/** From 0 to the first that is not below `max`, by a step of 1, 2 or 5. */
function ticksTo(max: number): number[] {
  if (!(max > 0)) return [0, 1]
  const rough = max / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10)
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, i) => i * step)
}

/** Powers of ten, and 2 and 5 between few of them, around all values. */
function logTicks(values: readonly number[]): number[] {
  const positive = values.filter((value) => value > 0)
  const low = Math.floor(Math.log10(Math.min(...positive)))
  const high = Math.log10(Math.max(...positive))
  const between = high - low <= 3 ? [1, 2, 5] : [1]
  const all = Array.from({ length: Math.ceil(high) - low + 1 }, (_, i) =>
    between.map((factor) => factor * 10 ** (low + i)),
  ).flat()
  const end = all.findIndex((tick) => Math.log10(tick) >= high - 1e-9)
  const start = all.findLastIndex((tick) => tick <= Math.min(...positive) * (1 + 1e-9))
  return all.slice(Math.max(0, start), end < 0 ? undefined : Math.max(end, start + 1) + 1)
}

/** A number for an axis: three digits say enough. */
export function short(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e6) return `${trimmed(value / 1e6)} M`
  if (size >= 10_000) return `${trimmed(value / 1e3)} k`
  return size >= 100 ? value.toFixed(0) : trimmed(value)
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(3)))
}

function px(value: number): string {
  return value.toFixed(1)
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
