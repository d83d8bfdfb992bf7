// The compiler asks for the bound of one client's use of the service; this file does not compile where there is none.
import { expect, test } from 'vitest'
import { operations } from '../../src/core/operations/index.ts'
import { routes } from '../../src/server/routes/index.ts'
import { post, type Route } from '../../src/server/route.ts'

const { price: _price, ...withoutPrice } = operations.evaluate
// @ts-expect-error -- an operation without a price
const unpriced: typeof operations = { ...operations, evaluate: withoutPrice }

const { limit: _limit, cost: _cost, ...unboundedRow } = routes[0]!
// @ts-expect-error -- a route with neither a limit nor a cost
const unbounded: Route = { ...unboundedRow, ...post }

test('every operation has a price, and every route a limit or a cost', () => {
  expect(
    [unpriced.evaluate, unbounded].filter((one) => 'price' in one || 'limit' in one || 'cost' in one),
  ).toEqual([])
  expect(Object.entries(operations).filter(([, { price }]) => price === undefined)).toEqual([])
  expect(routes.filter(({ limit, cost }) => limit === undefined && cost === undefined)).toEqual([])
})
