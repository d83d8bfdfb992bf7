// One transaction for a batch; where it fails, one for each item, so that an item which the database refuses fails alone.
import { isUnavailable } from '../src/core/tables/sql.ts'

/**
 * @param work  for all of the items or for one; returns results by item, and may leave items out
 * @param failed  the result of an item whose work has failed
 * @param failsAll  whether an error is no single item's doing, so that trying each alone is of no use; by default a database that is away
 */
export async function togetherOrAlone<Item, Result>(
  items: readonly Item[],
  {
    work,
    failed,
    failsAll = isUnavailable,
  }: {
    work: (items: readonly Item[]) => Promise<Map<Item, Result>>
    failed: (error: unknown) => Result
    failsAll?: (error: unknown) => boolean
  },
): Promise<Map<Item, Result>> {
  if (items.length === 0) return new Map()
  try {
    return await work(items)
  } catch (error) {
    if (items.length === 1 || failsAll(error)) return new Map(items.map((item) => [item, failed(error)]))
  }
  const results = new Map<Item, Result>()
  for (const item of items)
    for (const [done, result] of await togetherOrAlone([item], { work, failed, failsAll }))
      results.set(done, result)
  return results
}
