// A response or parameter that several operations share stands once in the document, and the operations refer to it.
import type { Route } from '../route.ts'
import { parametersOf } from './operation-parameters.ts'
import { responsesOf } from './responses.ts'

/** Components by name; the name of a response lists its rows of src/core/errors/errors.ts. */
export type Shared = Readonly<Record<string, object>>

/** @throws Error where two responses of one name differ: the name lacks a word for the difference */
export function sharedResponses(routes: readonly Route[]): Shared {
  const named = routes
    .flatMap(responsesOf)
    .flatMap(({ name, response }) => (name === undefined ? [] : [{ name, response }]))
  const byName = Map.groupBy(named, ({ name }) => name)
  const shared = [...byName].filter(([, { length }]) => length > 1)
  return Object.fromEntries(shared.map(([name, alike]) => [name, theOne(name, alike)]))
}

/** @returns the parameters of several operations that are the same wherever their name occurs, by that name */
export function sharedParameters(routes: readonly Route[]): Shared {
  const byName = Map.groupBy(routes.flatMap(parametersOf), ({ name }) => name)
  const shared = [...byName].filter(
    ([, alike]) => alike.length > 1 && new Set(alike.map((one) => JSON.stringify(one))).size === 1,
  )
  return Object.fromEntries(shared.map(([name, [first]]) => [name, first!]))
}

function theOne(name: string, [first, ...others]: readonly { readonly response: object }[]): object {
  const text = JSON.stringify(first?.response)
  if (others.some(({ response }) => JSON.stringify(response) !== text))
    throw new Error(`two responses that are called ${name} differ`)
  return first!.response
}
