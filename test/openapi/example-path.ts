// The path of a route with the example of each parameter that it needs.
import type { Route } from '../../src/server/route.ts'

export function examplePath({ path, params, query = {} }: Route): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params?.[name]?.example ?? '')
  const required = Object.entries(query).filter((entry) => entry[1].required)
  if (required.length === 0) return filled
  return `${filled}?${required.map(([name, { example }]) => `${name}=${example}`).join('&')}`
}
