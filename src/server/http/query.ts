// Checks the query parameters of a request: a mistyped name must not turn a filtered list into a whole one.
import { cut } from '../../formats/text/text.ts'
import type { Route } from '../route.ts'

const NAME_MAX = 60

/**
 * Finds the first parameter that the route does not have, or that is repeated.
 *
 * @returns a sentence that names it; undefined where there is none, and on a route that reads no parameters
 */
export function queryProblem(route: Pick<Route, 'query'>, query: URLSearchParams): string | undefined {
  if (route.query === undefined) return undefined
  const known = Object.keys(route.query)
  const names = [...query.keys()]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    return `${JSON.stringify(cut(unknown, NAME_MAX))} is no query parameter of this path, which takes ${known.join(', ')}.`
  const repeated = names.find((name, i) => names.indexOf(name) < i)
  return repeated && `${repeated} is there twice in the query.`
}
