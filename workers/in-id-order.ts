// One order for everybody who writes rows of executions: two transactions that write the same ones wait for each other and never both ways.

/**
 * Runs `work` on items in the order of their ids.
 * @param work returns a result of each, in their order
 * @returns the results, in the order of `items`
 */
export async function inIdOrder<Item, Result>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  work: (sorted: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const sorted = items.map((item, place) => ({ id: idOf(item), item, place }))
  sorted.sort((a, b) => (a.id < b.id ? -1 : 1))
  const results = await work(sorted.map(({ item }) => item))
  const inPlace: Result[] = []
  for (const [i, { place }] of sorted.entries()) inPlace[place] = results[i] as Result
  return inPlace
}
