// Responses that several operations answer alike: each stands once in the document, and the operations refer to it.
import type { Route } from '../routes/route.ts'
import { responsesOf } from './responses.ts'

/** The components, by a name that says which rows of src/core/errors.ts they are of. */
export type SharedResponses = Readonly<Record<string, object>>

/** @throws Error where two responses of one name differ: the name lacks a word for what makes the difference */
export function sharedResponses(routes: readonly Route[]): SharedResponses {
  const named = routes
    .flatMap(responsesOf)
    .flatMap(({ name, response }) => (name === undefined ? [] : [{ name, response }]))
  const byName = Map.groupBy(named, ({ name }) => name)
  const shared = [...byName].filter(([, { length }]) => length > 1)
  return Object.fromEntries(shared.map(([name, alike]) => [name, theOne(name, alike)]))
}

function theOne(name: string, [first, ...others]: readonly { readonly response: object }[]): object {
  const text = JSON.stringify(first?.response)
  if (others.some(({ response }) => JSON.stringify(response) !== text))
    throw new Error(`two responses that are called ${name} differ`)
  return first!.response
}
