// Filters that a reader has kept under a name, in this browser. They hold no more than an address does, and stay after a logout.
import { session } from './api.ts'

export interface View {
  readonly name: string
  /** As in the address, without the question mark. */
  readonly query: string
}

const VIEWS_MAX = 50

/** Of the human who is logged in: another one of the same browser has their own. */
const keyOf = (path: string) => `countersign-views ${session.get()?.callerId ?? ''} ${path}`

/** @param path of the page @returns by name; none where the storage holds something else */
export function keptViews(path: string): readonly View[] {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(path)) ?? '[]') as unknown
    return Array.isArray(kept) ? kept.filter(isView) : []
  } catch {
    return []
  }
}

/** Keeps a view in the place of one with the same name. @returns all of the page */
export function keepView(path: string, view: View): readonly View[] {
  return store(path, [view, ...keptViews(path).filter(({ name }) => name !== view.name)].slice(0, VIEWS_MAX))
}

/** @returns those that are left */
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
