// One endpoint that events are pushed to: how far behind it is and why, its next event, and the acts by which a human mends it. Each act is
// signed with the human's step-up passkey, because it may cost a receiver events or its signatures.
import { useState } from 'preact/hooks'
import type { EventEndpointWithAttempts } from '../../formats/schemas/event-endpoint.ts'
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
import { Attempts, outcomeOf } from '../components/attempts.tsx'
import { useLoaded, useNow, useTitle } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { algorithmOfPem, endpointActBy } from '../passkey.ts'
import { useSigning } from '../signing.ts'
import { absolute, oneLine } from '../text.ts'

const EVERY_MS = 10_000
/** Reload interval for some seconds after a human has triggered an attempt, so that its result appears. */
const SOON_MS = 1_000
const RESULT_WITHIN_MS = 10_000

/** An attempt that a human has triggered. */
interface Tried {
  /** The number of the newest attempt at that time. */
  readonly after: number
  readonly atMs: number
}

const isAwaited = (tried: Tried | undefined): tried is Tried =>
  tried !== undefined && Date.now() - tried.atMs < RESULT_WITHIN_MS

/** The most events that a page of the feed may have. */
const COUNTED_MAX = 1_000

export function Endpoint({ params, me }: PageProps) {
  const [tried, setTried] = useState<Tried>()
  const {
    data: endpoint,
    problem,
    reload,
  } = useLoaded<EventEndpointWithAttempts>(
    `/event-endpoints/${encodeURIComponent(params['id'] ?? '')}`,
    isAwaited(tried) ? SOON_MS : EVERY_MS,
  )
  useTitle(endpoint === undefined ? 'Event endpoint' : oneLine(endpoint.url))
  if (endpoint === undefined) return <NotLoaded title="Event endpoint" problem={problem} />
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
          <Attempts of={endpoint} />
        </>
      }
      right={
        <>
          {me.credentialHolderType === 'USER' && (
            <Mend endpoint={endpoint} me={me} tried={tried} onTried={setTried} onDone={reload} />
          )}
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

/** The results of the attempts so far. */
function Standing({ of: endpoint }: { readonly of: EventEndpointWithAttempts }) {
  const { state, lastSuccessAt, lastFailureAt, lastFailure, failingSince, nextAttemptAt } = endpoint
  const { unservedSince, unservedReason = '' } = endpoint
  return (
    <Panel title="Deliveries">
      {unservedSince !== undefined && (
        <p class="problem">
          Nothing is sent since <Time at={unservedSince} />: {unservedReason} It is no failure of the
          endpoint, and is tried again every few seconds.
        </p>
      )}
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

/** The events that the endpoint has not taken, counted in the feed, and the event that holds up the others. */
function Backlog({ of: { cursor, types, callerIds } }: { readonly of: EventEndpointWithAttempts }) {
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
    says: 'The secret is shown once, here. A secret that it replaces continues to sign for one day.',
    sent: { action: 'secret' },
  },
} as const

function Mend({
  endpoint,
  me,
  tried,
  onTried,
  onDone,
}: {
  readonly endpoint: EventEndpointWithAttempts
  readonly me: Me
  readonly tried: Tried | undefined
  readonly onTried: (tried: Tried | undefined) => void
  readonly onDone: () => void
}) {
  const { endpointId, attempts, previousSecretUntil } = endpoint
  const newest = attempts[0]?.number ?? 0
  const { waits, problem, run } = useSigning()
  const [came, setCame] = useState<{ readonly said: string; readonly secret?: string }>()
  const { stepUpPasskey: own } = me
  if (own === null)
    return (
      <Panel title="Mend it">
        <p>
          There are no buttons here, because each act is signed with a step-up passkey and you have none:{' '}
          <a href="/console/passkey">make one</a>. You also do it with your keys: this has it tried again; the
          handbook’s chapter Events pushed to you skips, and makes a secret.
        </p>
        <Command
          text={`curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{}' \\\n  ${location.origin}/event-endpoints/${endpointId}/redeliver`}
        />
      </Panel>
    )
  const act = ({ title, sent }: (typeof ACTS)[keyof typeof ACTS]) =>
    run(async () => {
      setCame(undefined)
      onTried(undefined)
      const { action, after } = { after: undefined, ...sent }
      const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) }
      const stepUpAuthorization = await endpointActBy(by, { endpointId, action, after })
      const path = `/event-endpoints/${endpointId}/${action}`
      const answer = await post<{ secret?: string }>(path, { after, stepUpAuthorization })
      setCame({
        said: `${title}: done.`,
        ...(answer.secret === undefined ? {} : { secret: answer.secret }),
      })
      if (action === 'redeliver' && after === undefined) onTried({ after: newest, atMs: Date.now() })
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
            <dd>
              {one.says}
              {name === 'secret' && previousSecretUntil !== undefined && (
                <strong class="warning">
                  {' '}
                  A secret was replaced less than a day ago, and the one before it still signs until{' '}
                  {absolute(previousSecretUntil)}. Make another only after your program has the newest: once
                  its own secret has ended, it can verify nothing.
                </strong>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <Problem text={problem} />
      <p role="status">
        {came?.said} {tried !== undefined && resultOf(endpoint, tried)}
      </p>
      {came?.secret !== undefined && (
        <p>
          <code>{came.secret}</code> <Copy text={came.secret} label="Copy the secret" />
        </p>
      )}
    </Panel>
  )
}

/** The result of a triggered attempt, as a sentence. */
function resultOf({ attempts, nextAttemptAt }: EventEndpointWithAttempts, tried: Tried): string {
  const first = attempts.findLast(({ number }) => number > tried.after)
  if (first === undefined)
    return isAwaited(tried)
      ? 'Its result comes here…'
      : 'Nothing was sent: either nothing waits, or the endpoint has not answered yet.'
  const next = nextAttemptAt === undefined ? '' : ` The next attempt follows at ${absolute(nextAttemptAt)}.`
  return `The event ${first.eventId.slice(0, 8)}… ${outcomeOf(first)}.${first.problem === undefined ? '' : next}`
}
