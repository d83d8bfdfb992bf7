// Filters that a reader has kept under a name, in this browser. They hold no more than a URL does, and stay after a logout.
import { session } from './api.ts'

export interface View {
  readonly name: string
  /** The query of the URL, without the question mark. */
  readonly query: string
}

const VIEWS_MAX = 50

/** The storage key of the logged-in human: each human who uses this browser has their own views. */
const keyOf = (path: string) => `countersign-views ${session.get()?.callerId ?? ''} ${path}`

/** @param path of the page @returns its views, sorted by name; none where the storage holds something else */
export function keptViews(path: string): readonly View[] {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(path)) ?? '[]') as unknown
    return Array.isArray(kept) ? kept.filter(isView) : []
  } catch {
    return []
  }
}

/** Keeps a view, and replaces a view of the same name. @returns all views of the page */
export function keepView(path: string, view: View): readonly View[] {
  return store(path, [view, ...keptViews(path).filter(({ name }) => name !== view.name)].slice(0, VIEWS_MAX))
}

/** @returns the remaining views */
export function removeView(path: string, name: string): readonly View[] {
  return store(
    path,
    keptViews(path).filter((view) => view.name !== name),
  )
}

function store(path: string, views: readonly View[]): readonly View[] {
  const sorted = views.toSorted((a, b) => a.name.localeCompare(b.name))
  localStorage.setItem(keyOf(path), JSON.stringify(sorted))
  return sorted
}

function isView(value: unknown): value is View {
  const { name, query } = (value ?? {}) as Partial<Record<keyof View, unknown>>
  return typeof name === 'string' && typeof query === 'string'
}
