// The filters of a list, as chips whose values are in the URL. This browser can keep them under a name, and the filtered list can be exported.
import type { ComponentChildren, TargetedFocusEvent, TargetedKeyboardEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { get, getFile, problemText, type Reply } from '../api.ts'
import { fieldOf } from '../forms.ts'
import { saveFile } from '../save.ts'
import { navigate, place, withQuery } from '../router.ts'
import { absolute, oneLine } from '../text.ts'
import { keptViews, keepView, removeView } from '../views.ts'
import { Problem, Said } from './basic.tsx'
import { listPath } from './list.tsx'

export interface Filter {
  /** The name of the query parameter, in the URL of the page and in the path of the list. */
  readonly name: string
  readonly label: string
  /** `time`: a date and a time in the reader's zone; in the URL they are in UTC. */
  readonly kind?: 'text' | 'number' | 'time'
  /** The values to choose from. */
  readonly values?: readonly string[]
  /** The meaning of an absent filter; left out: all values. */
  readonly without?: string
}

/** The time range that every list takes. */
export const timeFilters: readonly Filter[] = [
  { name: 'since', label: 'Since', kind: 'time' },
  { name: 'until', label: 'Until', kind: 'time' },
]

/** The filters that the catalogue has for executions and refusals alike. */
export const entryFilters: readonly Filter[] = [
  { name: 'approvable', label: 'Lacked approval', values: ['true', 'false'] },
  { name: 'contradicted', label: 'Provider contradicts', values: ['true', 'false'] },
  { name: 'capability', label: 'Action' },
  { name: 'target', label: 'Target' },
  { name: 'policy', label: 'Policy' },
  { name: 'policyVersion', label: 'Version' },
  { name: 'rule', label: 'Rule' },
  { name: 'callerId', label: 'Caller' },
  ...timeFilters,
  { name: 'minAmount', label: 'From amount', kind: 'number' },
  { name: 'maxAmount', label: 'To amount', kind: 'number' },
  { name: 'currency', label: 'Currency' },
  { name: 'q', label: 'Contains' },
]

/** A file that a list is saved as. */
export type Export = {
  readonly label: string
  /** The path of the list, without the filters of the page. */
  readonly path: string
  readonly type: 'text/csv' | 'application/x-ndjson'
  /** Filters that the page always applies and does not show. */
  readonly always?: Readonly<Record<string, string>>
  /** Given where the API has no such file: the file is made from the pages of the list. @returns the rows of a page, in lines */
  readonly linesOf?: (reply: never) => readonly string[]
  /** The first line of such a file. */
  readonly head?: string
  /** The list has a single page, and takes no page size. */
  readonly isWhole?: true
}

export function Filters({
  filters,
  exports = [],
}: {
  readonly filters: readonly Filter[]
  readonly exports?: readonly Export[]
}) {
  const [isOpen, setOpen] = useState(false)
  const set = filters.filter(({ name }) => place.get().query.has(name)).length
  return (
    <div class={`filters ${isOpen ? 'open' : ''}`.trim()} role="group" aria-label="Filters">
      {/* Shown only on a phone, where chips would fill the first screen. */}
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {set === 0 ? 'Filters' : `Filters (${set})`}
      </button>
      {filters.map((filter) => (
        <Chip key={filter.name} filter={filter} />
      ))}
      <Views names={filters.map(({ name }) => name)} />
      {exports.map((one) => (
        <ExportButton key={one.label} of={one} names={filters.map(({ name }) => name)} />
      ))}
    </div>
  )
}

function Chip({ filter }: { readonly filter: Filter }) {
  const { name, label, without } = filter
  const value = place.get().query.get(name) ?? ''
  return (
    <Popover
      class={value === '' ? '' : 'set'}
      summary={value === '' && without === undefined ? label : `${label}: ${shown(filter, value)}`}
    >
      {(close) => {
        const set = (next: string) => {
          close()
          navigate(withQuery({ [name]: next, cursor: undefined }), { replace: true })
        }
        return (
          <>
            <label>
              {label}
              {/* The `key` discards text that was typed and not applied, once the value changes. */}
              <Field key={value} filter={filter} value={value} onSet={set} />
            </label>
            {value !== '' && (
              <button type="button" onClick={() => set('')}>
                Remove
              </button>
            )}
          </>
        )
      }}
    </Popover>
  )
}

function Field({
  filter: { kind = 'text', values, without = 'all' },
  value,
  onSet,
}: {
  readonly filter: Filter
  readonly value: string
  readonly onSet: (value: string) => void
}) {
  if (values !== undefined)
    return (
      <select value={value} onChange={({ currentTarget }) => onSet(currentTarget.value)}>
        <option value="">{without}</option>
        {values.map((one) => (
          <option key={one} value={one}>
            {wordsOf(one)}
          </option>
        ))}
      </select>
    )
  const readFrom = ({ value: text }: HTMLInputElement) => (kind === 'time' ? utcOf(text) : text.trim())
  const events = {
    onKeyDown: (event: TargetedKeyboardEvent<HTMLInputElement>) => {
      if (event.key !== 'Enter') return
      event.preventDefault()
      onSet(readFrom(event.currentTarget))
    },
    // A date changes with each of its parts, so its value is taken when the field loses the focus.
    onBlur: ({ currentTarget }: TargetedFocusEvent<HTMLInputElement>) => {
      if (readFrom(currentTarget) !== value) onSet(readFrom(currentTarget))
    },
  }
  return kind === 'time' ? (
    <input type="datetime-local" step={1} defaultValue={localOf(value)} {...events} />
  ) : (
    <input
      type="text"
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      maxLength={200}
      defaultValue={value}
      {...events}
    />
  )
}

/** A panel that opens under its label, and closes with Escape or when the focus leaves it. */
function Popover({
  summary,
  class: className = '',
  children,
}: {
  readonly summary: string
  readonly class?: string
  readonly children: (close: () => void) => ComponentChildren
}) {
  const details = useRef<HTMLDetailsElement>(null)
  const close = () => {
    const element = details.current
    if (element === null || !element.open) return
    element.open = false
    if (element.contains(document.activeElement)) element.querySelector('summary')?.focus()
  }
  /** Opens at once, because the browser's own event comes later and the next key must go to the field. */
  const toggle = (event: Event) => {
    const element = details.current
    if (element === null) return
    event.preventDefault()
    element.open = !element.open
    if (element.open) element.querySelector<HTMLElement>('input, select')?.focus()
  }
  return (
    <details
      ref={details}
      class={`chip ${className}`.trim()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        // Restored before the field loses the focus, so that nothing is applied.
        for (const field of event.currentTarget.querySelectorAll('input')) field.value = field.defaultValue
        close()
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && details.current?.contains(relatedTarget) !== true)
          details.current!.open = false
      }}
    >
      <summary onClick={toggle}>{oneLine(summary)}</summary>
      <div class="popover">{children(close)}</div>
    </details>
  )
}

/** Filters that were kept under a name, and a form to keep the present filters. */
function Views({ names }: { readonly names: readonly string[] }) {
  const { path, query } = place.get()
  const [views, setViews] = useState(keptViews(path))
  const now = listPath('', query, names).slice(1)
  const save = (event: SubmitEvent) => {
    event.preventDefault()
    const name = fieldOf(event.currentTarget, 'name')
    if (name !== '') setViews(keepView(path, { name, query: now }))
  }
  return (
    <Popover summary={views.length === 0 ? 'Views' : `Views: ${views.length}`}>
      {(close) => (
        <>
          {views.length > 0 && (
            <ul class="plain">
              {views.map(({ name, query: kept }) => (
                <li key={name}>
                  <a href={`${path}?${kept}`} onClick={close} aria-current={kept === now}>
                    <Said text={name} />
                  </a>
                  <button
                    type="button"
                    aria-label={`Forget ${oneLine(name)}`}
                    onClick={() => setViews(removeView(path, name))}
                  >
                    Forget
                  </button>
                </li>
              ))}
            </ul>
          )}
          {now === '' ? (
            <p class="quiet">Set a filter first: what is set can be kept under a name, in this browser.</p>
          ) : (
            <form onSubmit={save}>
              <label>
                Keep these filters as
                <input name="name" required maxLength={60} autocomplete="off" />
              </label>
              <button type="submit">Keep</button>
            </form>
          )}
        </>
      )}
    </Popover>
  )
}

function ExportButton({ of, names }: { readonly of: Export; readonly names: readonly string[] }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const { label, path, type, always = {}, linesOf, head = '', isWhole = false } = of
  const save = async () => {
    setBusy(true)
    setProblem(undefined)
    const query = new URLSearchParams(place.get().query)
    for (const [name, value] of Object.entries(always)) query.set(name, value)
    try {
      const from = listPath(path, query, [...new Set([...names, ...Object.keys(always)])])
      const file = await (linesOf === undefined
        ? getFile(from, type)
        : fileOf(isWhole ? from : paged(from), { linesOf, head, type }))
      saveFile(file, `${place.get().path.split('/').at(-1)}.${type === 'text/csv' ? 'csv' : 'ndjson'}`)
    } catch (error) {
      setProblem(error instanceof TooMany ? error.message : problemText(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <button type="button" class="export" disabled={busy} onClick={() => void save()}>
        {busy ? 'Saving…' : label}
      </button>
      <Problem text={problem} />
    </>
  )
}

/** The most pages of a list in one file: each page is a request. */
const PAGES_MAX = 100

const paged = (path: string) => `${path}${path.includes('?') ? '&' : '?'}pageSize=100`

async function fileOf(
  path: string,
  { linesOf, head, type }: Required<Pick<Export, 'linesOf' | 'head' | 'type'>>,
): Promise<Blob> {
  const parts = [head]
  let next: string | undefined = path
  for (let pages = 0; next !== undefined; pages++) {
    if (pages === PAGES_MAX) throw new TooMany(`More than ${PAGES_MAX * 100} rows: choose a shorter time.`)
    const reply: Reply<never> = await get<never>(next)
    parts.push(...linesOf(reply.data))
    next = reply.next
  }
  return new Blob(parts, { type })
}

class TooMany extends Error {}

function shown({ kind, values, without = '' }: Filter, value: string): string {
  if (value === '') return without
  if (kind === 'time') return absolute(value)
  return values === undefined ? value : wordsOf(value)
}

const YES_NO: Readonly<Record<string, string>> = { true: 'yes', false: 'no' }

const wordsOf = (value: string) => YES_NO[value] ?? value.replaceAll('_', ' ').toLowerCase()

/** @param local as a date field has it, in the reader's zone @returns ISO 8601 in UTC, to the second; '' for none */
function utcOf(local: string): string {
  const date = new Date(local)
  return Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, 19)}Z`
}

function localOf(utc: string): string {
  const date = new Date(utc)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
