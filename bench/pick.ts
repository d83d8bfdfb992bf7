// Random picks.

/** @throws Error where there is nothing to pick from */
export function anyOf<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}

/** @returns a function that picks one of the items, in proportion to their weights */
export function weighted<Item extends { readonly weight: number }>(items: readonly Item[]): () => Item {
  const total = items.reduce((weights, { weight }) => weights + weight, 0)
  return () => {
    let at = Math.random() * total
    return items.find(({ weight }) => (at -= weight) < 0) ?? anyOf(items)
  }
}
