// One endpoint that events are pushed to: how far behind it is and why, what it waits for, and the acts of a human that mend it. Each act is
// signed with the human's step-up passkey, because it may cost a receiver events or its signatures.
import { useState } from 'preact/hooks'
import type { EventEndpoint } from '../../formats/schemas/event-endpoint.ts'
import { counted } from '../../formats/text/text.ts'
import { post, type Me } from '../api.ts'
import {
  Command,
  Copy,
  Detail,
  Hash,
  Members,
  NotLoaded,
  Panel,
  Problem,
  Said,
  Time,
} from '../components/basic.tsx'
import { useLoaded, useNow, useTitle } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { algorithmOfPem, endpointActBy } from '../passkey.ts'
import { useSigning } from '../signing.ts'
import { oneLine } from '../text.ts'

const EVERY_MS = 10_000

/** As many events as a page of the feed may have. */
const COUNTED_MAX = 1_000

export function Endpoint({ params, me }: PageProps) {
  const { data, problem, reload } = useLoaded<{ eventEndpoints: EventEndpoint[] }>(
    '/event-endpoints',
    EVERY_MS,
  )
  const endpoint = data?.eventEndpoints.find(({ endpointId }) => endpointId === params['id'])
  useTitle(endpoint === undefined ? 'Event endpoint' : oneLine(endpoint.url))
  if (endpoint === undefined)
    return (
      <NotLoaded
        title="Event endpoint"
        problem={data === undefined ? problem : 'No such endpoint is registered.'}
      />
    )
  const { endpointId, url, state, types, withParameters, callerIds, registeredAt, hasSecret } = endpoint
  return (
    <Detail
      heading={<Said text={url} />}
      status={state}
      problem={problem}
      left={
        <>
          <Standing of={endpoint} />
          <Backlog key={endpoint.cursor} of={endpoint} />
        </>
      }
      right={
        <>
          {me.credentialHolderType === 'USER' && <Mend endpoint={endpoint} me={me} onDone={reload} />}
          <Panel title="Registration">
            <Members of={{ types, withParameters, ...(callerIds === undefined ? {} : { callerIds }) }} />
            <p>
              Registered <Time at={registeredAt} /> by{' '}
              <a href={`/console/changes/event-endpoint/${endpointId}`}>a change</a>.{' '}
              {hasSecret
                ? 'Deliveries have a v1 signature by its secret, beside v1a.'
                : 'It has no secret: deliveries have the v1a signature alone.'}
            </p>
            <p>
              Id <Hash value={endpointId} whole />
            </p>
          </Panel>
        </>
      }
    />
  )
}

/** What came of the attempts. */
function Standing({ of: endpoint }: { readonly of: EventEndpoint }) {
  const { state, lastSuccessAt, lastFailureAt, lastFailure, failingSince, nextAttemptAt } = endpoint
  return (
    <Panel title="Deliveries">
      {state !== 'delivering' && lastFailure !== undefined && (
        <p class="problem">
          The last attempt failed{' '}
          {lastFailureAt !== undefined && (
            <>
              <Time at={lastFailureAt} />
            </>
          )}
          : the endpoint <Said text={lastFailure} />.
        </p>
      )}
      <ul class="plain">
        <li>Last success: {lastSuccessAt === undefined ? 'none' : <Time at={lastSuccessAt} />}</li>
        {failingSince !== undefined && (
          <li>
            Failing since <Time at={failingSince} />
          </li>
        )}
        {state === 'delivering' && lastFailure !== undefined && lastFailureAt !== undefined && (
          <li>
            Last failure <Time at={lastFailureAt} />: it <Said text={lastFailure} />
          </li>
        )}
        {nextAttemptAt !== undefined && (
          <li>
            Next attempt <Time at={nextAttemptAt} />
          </li>
        )}
        {state === 'disabled' && <li>Nothing is tried any more until a human enables it.</li>}
      </ul>
    </Panel>
  )
}

interface FeedEvent {
  readonly eventId: string
  readonly type: string
  readonly occurredAt: string
  readonly callerId?: string
}

/** The events that the endpoint has not taken, counted in the feed, and the one that holds up the others. */
function Backlog({ of: { cursor, types, callerIds } }: { readonly of: EventEndpoint }) {
  const query = new URLSearchParams({
    types: types.join(','),
    limit: String(COUNTED_MAX),
    ...(cursor === undefined ? {} : { after: cursor }),
  })
  const { data, problem } = useLoaded<{ events: FeedEvent[] }>(`/events?${query.toString()}`, EVERY_MS)
  const now = useNow(EVERY_MS)
  if (data === undefined)
    return (
      <Panel title="Backlog">
        <NotLoaded problem={problem} />
      </Panel>
    )
  const waiting = data.events.filter(
    ({ callerId }) => callerIds === undefined || (callerId !== undefined && callerIds.includes(callerId)),
  )
  const [first] = waiting
  if (first === undefined)
    return (
      <Panel title="Backlog">
        <p>Nothing waits: the endpoint has taken everything.</p>
      </Panel>
    )
  const isMore = data.events.length === COUNTED_MAX
  const hours = Math.max(0, now - Date.parse(first.occurredAt)) / 3_600_000
  const behind = hours < 1 ? counted(Math.floor(hours * 60), 'minute') : `${hours.toFixed(1)} hours`
  return (
    <Panel title="Backlog">
      <p class="sentence">
        {isMore ? 'More than ' : ''}
        {counted(waiting.length, 'event')} behind, {behind}.
      </p>
      <details>
        <summary>The next event: it holds up the others until the endpoint takes it</summary>
        <Members of={first} />
      </details>
    </Panel>
  )
}

const ACTS = {
  again: {
    title: 'Try again now',
    says: 'Delivery goes on where it stopped. A disabled endpoint is enabled.',
    sent: { action: 'redeliver' },
  },
  skip: {
    title: 'Skip to now',
    says: 'Everything that waits is skipped: the endpoint never gets it, unless somebody delivers it again.',
    sent: { action: 'redeliver', after: 'now' },
  },
  secret: {
    title: 'New secret',
    says: 'It is shown once, here. If there was one before, it goes on signing for a day.',
    sent: { action: 'secret' },
  },
} as const

function Mend({
  endpoint: { endpointId },
  me,
  onDone,
}: {
  readonly endpoint: EventEndpoint
  readonly me: Me
  readonly onDone: () => void
}) {
  const { waits, problem, run } = useSigning()
  const [came, setCame] = useState<{ readonly said: string; readonly secret?: string }>()
  const { stepUpPasskey: own } = me
  if (own === null)
    return (
      <Panel title="Mend it">
        <p>
          Without a step-up passkey you do it with your keys. This has it tried again; the handbook’s chapter
          Events pushed to you skips, and makes a secret:
        </p>
        <Command
          text={`curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{}' \\\n  ${location.origin}/event-endpoints/${endpointId}/redeliver`}
        />
      </Panel>
    )
  const act = ({ title, sent }: (typeof ACTS)[keyof typeof ACTS]) =>
    run(async () => {
      setCame(undefined)
      const { action, after } = { after: undefined, ...sent }
      const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) }
      const stepUpAuthorization = await endpointActBy(by, { endpointId, action, after })
      const path = `/event-endpoints/${endpointId}/${action}`
      const answer = await post<{ secret?: string }>(path, { after, stepUpAuthorization })
      setCame({
        said: `${title}: done.`,
        ...(answer.secret === undefined ? {} : { secret: answer.secret }),
      })
      onDone()
    })
  return (
    <Panel title="Mend it">
      <dl class="acts">
        {Object.entries(ACTS).map(([name, one]) => (
          <div key={name}>
            <dt>
              <button type="button" disabled={waits && came === undefined} onClick={() => void act(one)}>
                {one.title}, with your passkey…
              </button>
            </dt>
            <dd>{one.says}</dd>
          </div>
        ))}
      </dl>
      <Problem text={problem} />
      <p role="status">{came?.said}</p>
      {came?.secret !== undefined && (
        <p>
          <code>{came.secret}</code> <Copy text={came.secret} label="Copy the secret" />
        </p>
      )}
    </Panel>
  )
}
