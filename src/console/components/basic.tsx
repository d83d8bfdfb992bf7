// The small pieces of every page.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useNow } from '../hooks.ts'
import { absolute, jsonText, oneLine, relative } from '../text.ts'

/** A time relative to now, with the absolute time on hover and in print. */
export function Time({ at }: { readonly at: string }) {
  const now = useNow(10_000)
  return (
    <time dateTime={at} title={absolute(at)} data-absolute={absolute(at)}>
      {relative(at, now)}
    </time>
  )
}

/** How long ago something was due. */
export function Overdue({ since }: { readonly since: string }) {
  const now = useNow(10_000)
  const isDue = Date.parse(since) > now
  return (
    <time dateTime={since} title={absolute(since)} data-absolute={absolute(since)}>
      {isDue ? relative(since, now) : `overdue ${relative(since, now).replace(/ ago$/, '')}`}
    </time>
  )
}

/** Counts down to the time at which something expires. */
export function Countdown({ to }: { readonly to: string }) {
  const now = useNow()
  const seconds = Math.max(0, Math.floor((Date.parse(to) - now) / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  const text =
    hours > 0
      ? `${hours} h ${minutes} min`
      : minutes > 0
        ? `${minutes} min ${seconds % 60} s`
        : `${seconds} s`
  return (
    <time
      dateTime={to}
      title={absolute(to)}
      class={seconds < 300 ? 'urgent' : ''}
      data-absolute={absolute(to)}
    >
      {seconds === 0 ? 'expired' : `${text} left`}
    </time>
  )
}

/** A button that copies a text and says so. */
export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <button type="button" class="copy" onClick={() => void copy()} aria-live="polite">
      {copied ? 'Copied' : label}
    </button>
  )
}

/** The beginning of a hash or id; hover, copy and print give the whole value. */
export function Hash({ value, whole = false }: { readonly value: string; readonly whole?: boolean }) {
  const isCut = !whole && value.length > 18
  return (
    <span class="hash">
      <code title={value} data-whole={isCut ? value : undefined}>
        {isCut ? `${value.slice(0, 12)}…` : value}
      </code>
      <Copy text={value} />
    </span>
  )
}

/** Places where a name may wrap: after a punctuation mark and before a letter, so that no number is broken. */
const BREAKS = /(?<=[:/_.@=&])(?=\p{L})/u

function breakable(text: string): ComponentChildren {
  const [first, ...others] = text.split(BREAKS)
  return others.length === 0 ? text : [first, ...others.flatMap((part) => [<wbr />, part])]
}

/** A line that strangers wrote, isolated from the text beside it, whatever its writing direction. */
export function Said({ text }: { readonly text: string }) {
  return <bdi class="said">{breakable(oneLine(text))}</bdi>
}

/** The status of a refusal that approvals would have lifted; other refusals are `REFUSED`. */
export const LACKED_APPROVAL = 'LACKED_APPROVAL'

/** Statuses of an end without anybody's fault, and statuses that only inform. */
const OVER = [
  'USED',
  'EXPIRED',
  'ENDED',
  'WITHDRAWN',
  LACKED_APPROVAL,
  'unknown',
  'no-match',
  'INFO',
  'CLOSED_AS_EXECUTED',
  'CLOSED_AS_NOT_EXECUTED',
]
const GOOD = [
  'APPROVED',
  'COMPLETED',
  'VERIFIED',
  'IN_EFFECT',
  'delivering',
  'taken',
  'confirmed',
  'FINALIZED',
]
const BAD = [
  'DECLINED',
  'REJECTED',
  'REFUSED',
  'FAILED',
  'REVOKED',
  'RETIRED',
  'disabled',
  'contradicted',
  'ERRORED',
  'WARNING',
  'IN_DOUBT',
  'failing',
  'failed',
]

/** A status. The word carries the meaning; the colour only helps. */
export function Badge({ status }: { readonly status: string }) {
  const tone = GOOD.includes(status)
    ? 'good'
    : BAD.includes(status)
      ? 'bad'
      : OVER.includes(status)
        ? 'over'
        : 'open'
  return <span class={`badge ${tone}`}>{status.replaceAll('_', ' ').toLowerCase()}</span>
}

/** The effect of a rule where it decides. A decision of the past has a `Badge`. */
export function RuleBadge({ outcome }: { readonly outcome: 'approve' | 'reject' }) {
  const approves = outcome === 'approve'
  return <span class={`badge ${approves ? 'good' : 'bad'}`}>{approves ? 'approves' : 'rejects'}</span>
}

/** Content that is costly to make and seldom viewed: made when the reader opens it. */
export function Unfolded({
  summary,
  of,
}: {
  readonly summary: string
  readonly of: () => ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && of()}
    </details>
  )
}

/** Shows a text, such as the next step, where there is no content. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )
}

/** Replaces content that is not loaded yet, or cannot be loaded. */
export function NotLoaded({
  title,
  problem,
}: {
  /** The title of a page. */
  readonly title?: ComponentChildren
  readonly problem: string | undefined
}) {
  return (
    <>
      {title !== undefined && <h1>{title}</h1>}
      {problem === undefined ? <p class="quiet">Loading…</p> : <Problem text={problem} />}
    </>
  )
}

/** Longer values are folded, so that a person can look through the page. */
const FOLDED_FROM = 400

/** Signed members, each as its JSON text. */
export function Members({ of }: { readonly of: object }) {
  return (
    <dl class="members">
      {Object.entries(of).map(([name, value]) => (
        <div key={name} class={name.length > 24 ? 'long' : ''}>
          <dt>{oneLine(name)}</dt>
          <dd>
            <Value value={value as unknown} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ value }: { readonly value: unknown }) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
    return <Members of={value} />
  const text = jsonText(value)
  if (text.length <= FOLDED_FROM) return <code>{text}</code>
  return (
    <details>
      <summary>
        <code>{text.slice(0, 120)}…</code> {text.length} characters
      </summary>
      <code>{text}</code>
    </details>
  )
}

/** A section with a heading. */
export function Panel({
  title,
  action,
  members,
  children,
}: {
  readonly title: string
  readonly action?: ComponentChildren
  /** Members that are shown above the rest. */
  readonly members?: object
  readonly children?: ComponentChildren
}) {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {action}
      </header>
      {members !== undefined && <Members of={members} />}
      {children}
    </section>
  )
}

/** The page of one object: its name and its state, then two columns of panels. */
export function Detail({
  heading,
  status,
  when,
  problem,
  lead,
  left,
  right,
}: {
  readonly heading: ComponentChildren
  readonly status?: string
  /** When the event happened, or how long the object stays open. */
  readonly when?: ComponentChildren
  /** Why the page may be out of date. */
  readonly problem?: string | undefined
  readonly lead?: ComponentChildren
  readonly left: ComponentChildren
  readonly right: ComponentChildren
}) {
  return (
    <>
      <header class="heading">
        <h1>{heading}</h1>
        {status !== undefined && <Badge status={status} />}
        {when}
      </header>
      <Problem text={problem} />
      {lead}
      <div class="columns">
        <div>{left}</div>
        <div>{right}</div>
      </div>
    </>
  )
}

/** Text to copy, such as a command. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} />
    </div>
  )
}
