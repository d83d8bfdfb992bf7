// One transaction for a batch; where it fails, one for each item, so that an item which the database refuses fails alone.
import { classify, isUnavailable } from '../src/store/postgres/sql-errors.ts'

/** A node of Citus that is unreachable takes seconds to fail each item: after this time, items that have not been tried fail as well. */
const ALONE_MS_MAX = 2_000

interface Ways<Item, Result> {
  readonly work: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly failed: (error: unknown) => Result
  readonly failsAll?: (error: unknown) => boolean
}

/**
 * Runs `togetherOrAlone` on items in the order of their ids: two transactions that write the same rows may wait, but deadlock on Citus alone.
 *
 * @returns the results, in the order of `items`
 */
export async function inIdOrder<Item, Result>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  ways: Ways<Item, Result>,
): Promise<Result[]> {
  const sorted = items.map((item, place) => ({ id: idOf(item), item, place }))
  sorted.sort((a, b) => (a.id < b.id ? -1 : 1))
  const results = await togetherOrAlone(
    sorted.map(({ item }) => item),
    ways,
  )
  const inPlace: Result[] = []
  for (const [i, { place }] of sorted.entries()) inPlace[place] = results[i] as Result
  return inPlace
}

/**
 * @param work for all of the items or for one; returns a result of each, in their order
 * @param failed the result of an item whose work has failed
 * @param failsAll whether no single item caused the error, so that trying each alone is of no use; by default a database that is away.
 *   Not asked after a deadlock, nor where a node of Citus is away: each item is tried alone then
 * @returns the results, in the order of `items`
 */
export async function togetherOrAlone<Item, Result>(
  items: readonly Item[],
  { work, failed, failsAll = isUnavailable }: Ways<Item, Result>,
): Promise<readonly Result[]> {
  if (items.length === 0) return []
  let cause: unknown
  try {
    return await work(items)
  } catch (error) {
    cause = error
  }
  const { kind } = classify(cause)
  const isPart = kind === 'partly away'
  // An item alone takes its locks in one order; a batch need not: Citus takes those of a statement shard by shard.
  const isWorthTrying = isPart || kind === 'deadlock' || !failsAll(cause)
  if (items.length === 1 || !isWorthTrying) return items.map(() => failed(cause))
  const results: Result[] = []
  const startedMs = performance.now()
  for (const item of items) {
    if (isPart && performance.now() - startedMs > ALONE_MS_MAX) results.push(failed(cause))
    else results.push(...(await togetherOrAlone([item], { work, failed, failsAll })))
  }
  return results
}
