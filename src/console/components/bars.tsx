// Numbers in a table, each with a bar, so that they can be read without the bars.
import type { ComponentChildren } from 'preact'

export interface Bar {
  readonly key: string
  readonly name: ComponentChildren
  /** A second line in grey. */
  readonly below?: ComponentChildren
  readonly value: number
  readonly text: ComponentChildren
  /** The value of a full bar, in place of the greatest value. */
  readonly of?: number
}

export function Bars({
  caption,
  names,
  bars,
  tone = 'accent',
}: {
  readonly caption: string
  /** The titles of the two columns. */
  readonly names: readonly [name: string, value: string]
  readonly bars: readonly Bar[]
  readonly tone?: 'accent' | 'open'
}) {
  const greatest = Math.max(...bars.map(({ value }) => value), 0)
  return (
    <table class="bars">
      <caption class="hidden">{caption}</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ key, name, below, value, text, of = greatest }) => {
          const share = of > 0 ? Math.min(1, value / of) : 0
          return (
            <tr key={key}>
              <th scope="row">
                {name}
                {below !== undefined && <div class="quiet">{below}</div>}
                <svg class={`bar ${share >= 0.9 && of !== greatest ? 'bad' : tone}`} aria-hidden="true">
                  <rect width={`${(share * 100).toFixed(1)}%`} height="100%" />
                </svg>
              </th>
              <td class="number">{text}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
