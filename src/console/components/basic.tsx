// The small pieces of every page.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useNow } from '../hooks.ts'
import { absolute, jsonText, oneLine, relative } from '../text.ts'

/** A time as it is from now, with the absolute one on hover and for print. */
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

/** A hash or id: its beginning, all of it on hover, to copy and in print. */
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

/** Where a name may go on in the next line: behind a mark, and in front of a letter, so that no number is broken. */
const BREAKS = /(?<=[:/_.@=&])(?=\p{L})/u

function breakable(text: string): ComponentChildren {
  const [first, ...others] = text.split(BREAKS)
  return others.length === 0 ? text : [first, ...others.flatMap((part) => [<wbr />, part])]
}

/** A line that strangers wrote. It stands apart from the text beside it, whichever way it runs. */
export function Said({ text }: { readonly text: string }) {
  return <bdi class="said">{breakable(oneLine(text))}</bdi>
}

/** A refusal that approvals would have lifted, where others are `REFUSED`. */
export const LACKED_APPROVAL = 'LACKED_APPROVAL'

/** What ended without anybody's fault, or only informs. */
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

/** A status. Its word says it; the colour only helps. */
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

/** What a rule does where it decides. A decision of the past has a `Badge`. */
export function RuleBadge({ outcome }: { readonly outcome: 'approve' | 'reject' }) {
  const approves = outcome === 'approve'
  return <span class={`badge ${approves ? 'good' : 'bad'}`}>{approves ? 'approves' : 'rejects'}</span>
}

/** What is dear to make and seldom looked at: made once it is opened. */
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

/** Shows what to do where there is nothing. */
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

/** In the place of what is not loaded yet, or cannot be. */
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

/** Longer values are folded: a page stays one that a person can look through. */
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
  /** Shown as they are, above the rest. */
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

/** The page of one thing: its name and its state, then two columns of panels. */
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
  /** When it was, or how long it still is. */
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
