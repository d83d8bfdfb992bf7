// The panel of what payment providers have said of an execution, each by a signed confirmation.
import type { ProviderConfirmation } from '../../formats/schemas/provider-confirmation.ts'
import { useLoaded } from '../hooks.ts'
import { oneLine } from '../text.ts'
import { Badge, Empty, Panel, Problem, Said, Time } from './basic.tsx'

const WORDS = { executed: 'it was executed', not_executed: 'it was not executed', pending: 'it is under way' }

/**
 * @param everyMs how often they are loaded again; undefined: once
 * @param awaited whether somebody looks for them: then it is said that there are none
 */
export function Confirmations({
  of: id,
  everyMs,
  awaited = false,
}: {
  readonly of: string
  readonly everyMs?: number
  readonly awaited?: boolean
}) {
  const { data, problem } = useLoaded<{ confirmations: { confirmation: ProviderConfirmation }[] }>(
    `/confirmations/${encodeURIComponent(id)}?pageSize=100`,
    everyMs,
  )
  const said = data?.confirmations ?? []
  if (said.length === 0 && !awaited) return null
  return (
    <Panel title="What providers have said since">
      <Problem text={problem} />
      {data !== undefined && said.length === 0 && (
        <Empty>
          Nothing yet. Where <a href="/console/deliveries">its deliveries</a> have rules, a provider’s word
          appears here by itself, and a definite one closes the execution.
        </Empty>
      )}
      <ul class="plain">
        {said.map(({ confirmation }) => (
          <Word key={confirmation.confirmationId} of={confirmation} />
        ))}
      </ul>
    </Panel>
  )
}

function Word({
  of: { provider, eventId, ruleId, says, comparisons, receivedAt },
}: {
  readonly of: ProviderConfirmation
}) {
  const differing = comparisons.filter(({ holds }) => !holds)
  return (
    <li>
      <Said text={provider} /> says that <strong>{WORDS[says]}</strong> <Time at={receivedAt} />{' '}
      {differing.length > 0 && <Badge status="contradicted" />}
      <p class="quiet">
        Rule <code>{oneLine(ruleId)}</code>,{' '}
        <a href={`/console/deliveries?provider=${encodeURIComponent(provider)}`}>delivery</a>{' '}
        <code>{oneLine(eventId)}</code>
        {differing.length === 0 ? '.' : '. It closes nothing, because it does not speak of the same:'}
      </p>
      {differing.map(({ expression }) => (
        <pre key={expression} tabIndex={0}>
          {oneLine(expression)}
        </pre>
      ))}
    </li>
  )
}
