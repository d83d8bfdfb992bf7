// The last attempts to deliver events to an endpoint. An opened attempt rebuilds the sent body from the feed, and compares its hash.
import { useState } from 'preact/hooks'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { EventAttempt, EventEndpointWithAttempts } from '../../formats/schemas/event-endpoint.ts'
import { counted } from '../../formats/text/text.ts'
import { sha256Hex } from '../hashing.ts'
import { useLoaded } from '../hooks.ts'
import { jsonText } from '../text.ts'
import { Badge, Empty, Hash, NotLoaded, Panel, Problem, Said, Time } from './basic.tsx'

/** The outcome of an attempt, as the end of a sentence: "was taken: the endpoint answered 204 after 39 ms". */
export function outcomeOf({ status, problem, durationMs }: EventAttempt): string {
  return problem === undefined
    ? `was taken: the endpoint answered ${status ?? ''} after ${durationMs} ms`
    : `failed after ${durationMs} ms: the endpoint ${problem}`
}

export function Attempts({ of: endpoint }: { readonly of: EventEndpointWithAttempts }) {
  const { attempts, withParameters } = endpoint
  const rate = rateOf(attempts)
  return (
    <Panel title="Attempts">
      {attempts.length === 0 ? (
        <Empty>Nothing has been sent to it since attempts are noted.</Empty>
      ) : (
        <>
          <p>
            The last {attempts.length === 1 ? 'one' : attempts.length}
            {rate !== undefined && `, ${rate}`}. Of an answer only its status is kept.
          </p>
          <ul class="plain attempts">
            {attempts.map((one) => (
              <li key={one.number}>
                <Sent of={one} withParameters={withParameters} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}

/** How fast attempts followed each other; attempts between those that are kept count too. */
function rateOf(attempts: readonly EventAttempt[]): string | undefined {
  const [newest] = attempts
  const oldest = attempts.at(-1)
  if (newest === undefined || oldest === undefined) return undefined
  const minutes = (Date.parse(newest.beganAt) - Date.parse(oldest.beganAt)) / 60_000
  const made = newest.number - oldest.number
  if (made === 0 || minutes === 0) return undefined
  const perMinute = made / minutes
  return perMinute >= 1
    ? `about ${counted(Math.round(perMinute), 'attempt')} a minute`
    : `about ${counted(Math.max(1, Math.round(perMinute * 60)), 'attempt')} an hour`
}

/** The event as it was sent, loaded when the reader opens it. */
function Sent({ of, withParameters }: { readonly of: EventAttempt; readonly withParameters: boolean }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Badge status={of.problem === undefined ? 'taken' : 'failed'} /> {of.type} <Time at={of.beganAt} />
        <span class="quiet">
          <Said text={of.problem ?? `answered ${of.status}`} /> after {of.durationMs} ms
        </span>
      </summary>
      {isOpen && <Body of={of} withParameters={withParameters} />}
    </details>
  )
}

type Members = Readonly<Record<string, Json>>

function Body({ of, withParameters }: { readonly of: EventAttempt; readonly withParameters: boolean }) {
  const { before, type, businessTransactionId: id, bodySha256, bodyBytes } = of
  const page =
    id && `/console/${type === 'execution.refused' ? 'refusals' : 'executions'}/${encodeURIComponent(id)}`
  const query = new URLSearchParams({ after: before, types: type, limit: '1' })
  const feed = useLoaded<{ events: Members[] }>(`/events?${query.toString()}`)
  const carries = withParameters && id !== undefined && type.startsWith('execution.')
  const stored = useLoaded<Evidence>(
    carries
      ? `/${type === 'execution.refused' ? 'refusals' : 'trust-records'}/${encodeURIComponent(id)}`
      : undefined,
  )
  if (feed.data === undefined || stored.isAwaited) return <NotLoaded problem={feed.problem} />
  const [event = {}] = feed.data.events
  const intent = stored.data?.transaction?.intent ?? stored.data?.evaluatedIntent
  const body = intent === undefined ? event : { ...event, parameters: intent.parameters }
  return (
    <>
      <pre class="bytes" tabIndex={0}>
        {jsonText(body, 2)}
      </pre>
      <Problem text={stored.problem} />
      <p>
        {stored.problem !== undefined
          ? `What the body carried besides, ${bodyBytes} bytes in all, could not be read.`
          : sha256Hex(canonicalize(body)) === bodySha256
            ? `In one line, as canonical JSON, this is the body that was sent: ${bodyBytes} bytes.`
            : `This is the event as the feed has it now. The body that was sent, ${bodyBytes} bytes, was another one.`}{' '}
        SHA-256 <Hash value={bodySha256} />
      </p>
      {page !== undefined && (
        <p>
          <a href={page}>The execution that it is about</a>
        </p>
      )}
    </>
  )
}

/** The members that hold the intent, in a record and in a refusal. */
interface Evidence {
  readonly transaction?: { readonly intent: { readonly parameters: Json } }
  readonly evaluatedIntent?: { readonly parameters: Json }
}
