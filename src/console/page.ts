// What every page is given.
import type { Me } from './api.ts'

export interface PageProps {
  /** Of its path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Who looks. */
  readonly me: Me
}
