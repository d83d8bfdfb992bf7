// Reads GET /metrics of a running service the way Prometheus would.
import { expect } from 'vitest'
import type { TestService } from '../service.ts'

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Finds the address that a service with METRICS_PORT logged. */
export function metricsUrl(service: TestService): string {
  const line = service.lines().find(({ msg }) => msg === 'metrics')
  if (line === undefined) throw new Error('no metrics are served')
  return String(line['url'])
}

export async function scrape(service: TestService): Promise<Sample[]> {
  const answer = await fetch(metricsUrl(service))
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return parseExposition(text)
}

/** Throws on a line that is not a sample of the text format. */
function parseExposition(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const found = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)$/i.exec(line)
    if (found === null) throw new Error(`not a sample: ${line}`)
    const [, name = '', labels = '', value = ''] = found
    const pairs = Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, key = '', text_ = '']) => [
      key,
      text_,
    ])
    return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }
  })
}

/** The sum of the samples that have these labels. Undefined: there is none. */
export function total(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}
