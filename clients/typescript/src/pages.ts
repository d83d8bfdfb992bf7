// Lists, which the service answers in pages: a page ends early where its bytes reach 4 MiB, and its Link header leads on.
import type { Call } from './retry.ts'

interface Paged {
  page?: number
  pageSize?: number
  cursor?: string
}

/** How a list is read: `get` asks for one page, `itemsOf` takes the list out of it, `read` waits and repeats. */
export interface Listing<Query extends Paged, Page, Item> {
  readonly get: (query: Query) => ReturnType<Call<Page>>
  readonly itemsOf: (page: Page) => readonly Item[]
  readonly read: <T>(call: Call<T>) => Promise<T>
}

interface Part<Item> {
  readonly items: readonly Item[]
  readonly cursor: string | null
}

/** The service's default page size. */
const PAGE_SIZE = 25

/** Every item, a page at a time. */
export async function* everyItem<Query extends Paged, Page, Item>(
  query: Query,
  listing: Listing<Query, Page, Item>,
): AsyncGenerator<Item, void, undefined> {
  let asked: Query | null = query
  while (asked !== null) {
    const { items, cursor }: Part<Item> = await readPage(asked, listing)
    yield* items
    asked = cursor === null ? null : behind(query, cursor)
  }
}

/** Every item at once, of a list that has no page size. */
export async function allItems<Query extends Paged, Page, Item>(
  query: Query,
  listing: Listing<Query, Page, Item>,
): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of everyItem(query, listing)) all.push(item)
  return all
}

/** The requested page, put together from the parts in which the service sent it. */
export async function wholePage<Query extends Paged, Page, Item>(
  query: Query,
  listing: Listing<Query, Page, Item>,
): Promise<Item[]> {
  const size = query.pageSize ?? PAGE_SIZE
  const whole: Item[] = []
  let asked: Query | null = query
  while (asked !== null) {
    const { items, cursor }: Part<Item> = await readPage(asked, listing)
    whole.push(...items)
    const missing = size - whole.length
    asked = cursor === null || missing <= 0 ? null : { ...behind(query, cursor), pageSize: missing }
  }
  return whole
}

/** A cursor takes the place of a page's number. */
function behind<Query extends Paged>(query: Query, cursor: string): Query {
  const next = { ...query, cursor }
  delete next.page
  return next
}

async function readPage<Query extends Paged, Page, Item>(
  query: Query,
  { get, itemsOf, read }: Listing<Query, Page, Item>,
): Promise<Part<Item>> {
  let link: string | null = null
  const page = await read(async () => {
    const reply = await get(query)
    link = reply.response.headers.get('Link')
    return reply
  })
  return { items: itemsOf(page), cursor: nextCursor(link) }
}

/** Takes only the cursor: the address stays the address that this client was given. */
function nextCursor(link: string | null): string | null {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1]
  return target === undefined ? null : new URL(target, 'http://localhost').searchParams.get('cursor')
}
