// Every view is a URL, filters included. Links are ordinary links; the console follows its own links without reloading the document.
import { store } from './api.ts'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) })

export const place = store<Place>(here())

/** Where a reader was on a page when they left it, kept with its history entry. */
interface Left {
  readonly y: number
  /** The `href` of the row that had the focus. */
  readonly row: string | undefined
}

function keepPlace(): void {
  const row = document.activeElement?.closest('a[data-row]')?.getAttribute('href') ?? undefined
  const left: Left = { y: window.scrollY, row }
  history.replaceState(left, '')
}

/** Rows that load later than this do not move a reader any more. */
const RETURNING_MS = 5_000

/** Scrolls back to where the reader was, once the page is as long as it was and has that row; not after the reader has moved on. */
function returnTo({ y, row }: Left): void {
  const over = new AbortController()
  const { signal } = over
  const rowOf = () =>
    row === undefined ? null : document.querySelector<HTMLElement>(`a[data-row][href="${CSS.escape(row)}"]`)
  const tryIt = () => {
    const isThere = document.documentElement.scrollHeight >= y + window.innerHeight
    const found = rowOf()
    if (!isThere || (row !== undefined && found === null)) return
    over.abort()
    found?.focus({ preventScroll: true })
    window.scrollTo(0, y)
  }
  const observer = new MutationObserver(tryIt)
  signal.addEventListener('abort', () => observer.disconnect())
  for (const moved of ['wheel', 'touchmove', 'keydown', 'pointerdown', 'popstate'])
    addEventListener(moved, () => over.abort(), { signal, passive: true })
  observer.observe(document.body, { childList: true, subtree: true })
  setTimeout(() => over.abort(), RETURNING_MS)
}

/** @param url of the console, path and query */
export function navigate(url: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (!replace) keepPlace()
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  place.set(here())
  if (!replace) window.scrollTo(0, 0)
}

/** The present URL with changed query parameters; undefined removes a parameter. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const { path, query } = place.get()
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  return next.size === 0 ? path : `${path}?${next.toString()}`
}

/** Follows the browser's back and forward, and clicks on links of the console. */
export function followLinks(): void {
  // The browser would restore the position before the rows are loaded.
  history.scrollRestoration = 'manual'
  addEventListener('pagehide', keepPlace)
  const left = history.state as Left | null
  if (left !== null) returnTo(left)
  addEventListener('popstate', ({ state }) => {
    place.set(here())
    if (state !== null) returnTo(state as Left)
    else window.scrollTo(0, 0)
  })
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    // A link within the page: the browser moves the focus there.
    if (link.hash !== '') return
    if (link.origin !== location.origin || !link.pathname.startsWith('/console')) return
    event.preventDefault()
    navigate(`${link.pathname}${link.search}`)
  })
}

interface Fitted<Page> {
  readonly page: Page
  readonly params: Readonly<Record<string, string>>
}

/**
 * @param table patterns such as `/console/requests/{id}`
 * @returns the first page whose pattern fits
 */
export function fit<Page extends { readonly path: string }>(
  table: readonly Page[],
  path: string,
): Fitted<Page> | undefined {
  const segments = path.replace(/\/$/, '').split('/')
  for (const page of table) {
    const pattern = page.path.split('/')
    if (pattern.length !== segments.length) continue
    const params: Record<string, string> = {}
    const fits = pattern.every((part, i) => {
      const segment = segments[i] ?? ''
      if (!part.startsWith('{')) return part === segment
      params[part.slice(1, -1)] = decodeURIComponent(segment)
      return true
    })
    if (fits) return { page, params }
  }
  return undefined
}
