// Plots as inline SVG: lines over a number, and bars in parts (docs/design-notes.md "The bench" says why no library draws them).
import { escapeHtml } from '../src/formats/text/text.ts'
import { sum, text } from './figures.ts'

interface Line {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

interface LinePlot {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly lines: readonly Line[]
  /** Marks of the x axis. Default: the axis begins at 0 and marks itself. */
  readonly xTicks?: readonly { readonly at: number; readonly text: string }[]
}

interface BarPlot {
  readonly title: string
  readonly unit: string
  /** Names of the parts, in the order of their colours. */
  readonly parts: readonly string[]
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[]
}

const COLOURS = ['#3b82f6', '#e08a00', '#8b5cf6', '#10a070', '#d6336c', '#0891b2']
export const PLOT_STYLE = `
figure { margin: 0; } figcaption { font-weight: 600; } small { font-weight: 400; }
svg { width: 100%; height: auto; font: 11.5px system-ui, sans-serif; } svg text { fill: currentColor; }
.grid { stroke: #8884; } .line { fill: none; stroke-width: 2; }
${COLOURS.map((colour, i) => `.c${i} { color: ${colour}; fill: ${colour}; stroke: ${colour}; }`).join(' ')} .line { fill: none; }
`
const WIDTH = 480
const HEIGHT = 260
const LEFT = 54
const RIGHT = 456
const TOP = 14
const BOTTOM = 220
const BAR_STEP = 27

export function linePlot({ title, xLabel, yLabel, lines, xTicks }: LinePlot): string {
  const points = lines.flatMap((line) => line.points)
  if (points.length === 0) return ''
  const xs = points.map(({ x }) => x)
  const yTicks = ticksTo(Math.max(...points.map(({ y }) => y)))
  const last = Math.max(...xs)
  const first = xTicks === undefined ? 0 : Math.min(...xs)
  const toX = scale([first, last], [LEFT, RIGHT])
  const toY = scale([0, yTicks.at(-1) ?? 1], [BOTTOM, TOP])
  const marks = xTicks ?? ticksTo(last).map((at) => ({ at, text: text(at) }))
  const path = (line: Line) =>
    line.points.map(({ x, y }, n) => `${n === 0 ? 'M' : 'L'}${toX(x)} ${toY(y)}`).join('')
  return figure({ title, unit: yLabel, names: lines.map(({ name }) => name), height: HEIGHT }, [
    ...yTicks.map(
      (at) =>
        `<path class="grid" d="M${LEFT} ${toY(at)}H${RIGHT}"/>${label(LEFT - 8, toY(at), text(at), 'end')}`,
    ),
    ...marks
      .filter(({ at }) => at >= first && at <= last)
      .map((tick) => label(toX(tick.at), BOTTOM + 18, tick.text, 'middle')),
    label((LEFT + RIGHT) / 2, HEIGHT - 4, xLabel, 'middle'),
    ...lines.map((line, i) => `<path class="line c${i}" d="${path(line)}"/>`),
  ])
}

/** Horizontal bars, one below the other, their parts side by side. */
export function barPlot({ title, unit, parts, bars }: BarPlot): string {
  if (bars.length === 0) return ''
  const left = 16 + 7 * Math.max(...bars.map(({ name }) => name.length))
  const toX = scale([0, Math.max(...bars.map(({ values }) => sum(values)))], [left, RIGHT - 26])
  const drawn = bars.map(({ name, values }, row) => {
    const y = TOP + row * BAR_STEP
    const rects = values.map((value, part) => {
      const from = toX(sum(values.slice(0, part)))
      const width = Math.max(0, toX(sum(values.slice(0, part + 1))) - from)
      const what = `${name} ${parts[part] ?? ''}: ${text(value)} ${unit}`
      return `<rect class="c${part}" x="${from}" y="${y}" width="${width.toFixed(1)}" height="18"><title>${escapeHtml(what)}</title></rect>`
    })
    const end = sum(values)
    return `${label(left - 8, y + 13, name, 'end')}${rects.join('')}${label(toX(end) + 6, y + 13, text(end), 'start')}`
  })
  return figure({ title, unit, names: parts, height: TOP + bars.length * BAR_STEP }, drawn)
}

function figure(
  { title, unit, names, height }: { title: string; unit: string; names: readonly string[]; height: number },
  content: readonly string[],
): string {
  const legend = names.map((name, i) =>
    name === '' ? '' : `<span class="c${i}">■ ${escapeHtml(name)}</span> `,
  )
  return (
    `<figure><figcaption>${escapeHtml(title)} <small>${escapeHtml(unit)}</small></figcaption>${legend.join('')}` +
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${content.join('')}</svg></figure>`
  )
}

function label(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escapeHtml(words)}</text>`
}

function scale([from, to]: readonly [number, number], [start, end]: readonly [number, number]) {
  return (value: number) =>
    Number((to === from ? start : start + ((value - from) / (to - from)) * (end - start)).toFixed(1))
}

/** Marks from 0 to the first mark that is not below `max`, by a step of 1, 2 or 5. */
function ticksTo(max: number): number[] {
  if (!(max > 0)) return [0, 1]
  const power = 10 ** Math.floor(Math.log10(max / 4))
  const step = power * ([1, 2, 5].find((factor) => factor * power >= max / 4) ?? 10)
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, i) => i * step)
}
