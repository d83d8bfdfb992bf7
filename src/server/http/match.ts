// Finds the route of a request line (THE table is routes/index.ts).
import type { PathParams } from '../../core/threads/thread-messages.ts'
import type { Route } from '../route.ts'

type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: PathParams }
  /** The path exists under other methods. `allow` lists them in the order of the table. */
  | { readonly kind: 'wrong method'; readonly allow: string }
  | { readonly kind: 'no such path' }

export type Matching = (method: string, path: string) => Match

interface Candidate {
  readonly segments: readonly string[]
  readonly route: Route
}

/**
 * HEAD finds the GET route.
 * @param isMounted whether this service has a route that fits the path
 */
export function openMatching(
  routes: readonly Route[],
  isMounted: (route: Route, params: PathParams) => boolean = () => true,
): Matching {
  const exact = new Map<string, Match>(
    routes
      .filter((route) => !route.path.includes('{') && isMounted(route, {}))
      .map((route) => [`${route.method} ${route.path}`, found(route, {})]),
  )
  const candidates = routes.flatMap((route) =>
    [route.path, route.alsoAt].flatMap((path) =>
      path === undefined ? [] : { route, segments: path.split('/') },
    ),
  )

  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method
    return exact.get(`${wanted} ${path}`) ?? search(candidates, isMounted, wanted, path)
  }
}

function search(
  candidates: readonly Candidate[],
  isMounted: (route: Route, params: PathParams) => boolean,
  method: string,
  path: string,
): Match {
  const segments = path.split('/')
  const here = candidates.flatMap((candidate) => {
    const params = fit(candidate, segments)
    return params === undefined || !isMounted(candidate.route, params)
      ? []
      : [{ route: candidate.route, params }]
  })
  const match = here.find(({ route }) => route.method === method)
  if (match !== undefined) return found(match.route, match.params)
  if (here.length === 0) return { kind: 'no such path' }
  const methods = new Set(
    here.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])),
  )
  return { kind: 'wrong method', allow: [...methods].join(', ') }
}

function found(route: Route, params: PathParams): Match {
  return { kind: 'route', route, params }
}

function fit(
  { segments: pattern, route: { tail } }: Candidate,
  given: readonly string[],
): Record<string, string> | undefined {
  const last = pattern.length - 1
  const segments = tail ? [...given.slice(0, last), given.slice(last).join('/')] : given
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, part] of pattern.entries()) {
    const segment = segments[i] ?? ''
    if (!part.startsWith('{')) {
      if (part !== segment) return undefined
      continue
    }
    const value = decode(segment)
    if (value === undefined || value === '') return undefined
    params[part.slice(1, -1)] = value
  }
  return params
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
