// The figure of refusals that lacked an approval, beside the figures of executions by outcome.
import { useCatalogue } from './catalogue.tsx'
import { countOf, executionsPath, LACKED, statisticsPath, type Statistics } from '../statistics.ts'

/** @param of.of filters of GET /statistics, with `since` */
export function Lacked({
  of,
  everyMs,
}: {
  readonly of: Readonly<Record<string, string>>
  readonly everyMs: number
}) {
  const filters = { ...of, ...LACKED.filters }
  const { data } = useCatalogue<Statistics>(statisticsPath(filters), everyMs)
  return (
    <div>
      <dt>{LACKED.name}</dt>
      <dd>
        <a href={executionsPath(filters)}>
          {data === undefined ? '–' : countOf(data).toLocaleString('en-US')}
        </a>
      </dd>
    </div>
  )
}
