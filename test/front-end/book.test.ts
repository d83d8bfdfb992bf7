// How much is taken in at once, of all clients together and of one, and how a place is given back (docs/design-notes.md "Backpressure").
import { describe, expect, test } from 'vitest'
import { openBook, type Book, type Held } from '../../src/server/http/gates/book.ts'

const BYTES_MAX = 64 * 1024 * 1024
const SHARE = BYTES_MAX / 4

/** A place that there must be. */
function taken(book: Book, bytes: number, client = 'a', column: 'announced' | 'inFlight' = 'inFlight'): Held {
  const held = book.hold(column, client, bytes)
  if (typeof held === 'string') throw new Error(`there is no place: ${held}`)
  return held
}

/** A body that may be announced. */
const announced = (book: Book, bytes: number, client = 'a') => taken(book, bytes, client, 'announced')

const giveBack = (held: Held | undefined) => held?.[Symbol.dispose]()

describe('there is no place', () => {
  test('for one request more of a client than a quarter of all, until it has given one back; the others have theirs', () => {
    const book = openBook(8)
    const leave = taken(book, 0)
    taken(book, 0)
    expect(book.hold('inFlight', 'a', 0)).toBe('client-share')
    taken(book, 0, 'b')
    giveBack(leave)
    taken(book, 0)
  })

  test('for one request more than all clients may have together, until one has left', () => {
    const book = openBook(4)
    const [leave] = ['a', 'b', 'c', 'd'].map((client) => taken(book, 0, client))
    expect(book.hold('inFlight', 'e', 0)).toBe('places')
    giveBack(leave)
    taken(book, 0, 'e')
  })

  test('for one byte more of one client than a quarter of all, until it has given some back', () => {
    const book = openBook(100)
    taken(book, SHARE - 1)
    const leave = taken(book, 1)
    expect(book.hold('inFlight', 'a', 1)).toBe('client-share')
    taken(book, 0)
    taken(book, SHARE, 'b')
    giveBack(leave)
    taken(book, 1)
  })

  test('for one byte more than all clients may send together, until one has left', () => {
    const book = openBook(100)
    const [leave] = ['a', 'b', 'c', 'd'].map((client) => taken(book, SHARE, client))
    expect(book.hold('inFlight', 'e', 1)).toBe('memory')
    giveBack(leave)
    taken(book, SHARE, 'e')
    expect(book.hold('inFlight', 'a', 1)).toBe('memory')
  })
})

describe('clients without a key', () => {
  const addresses = ['address 192.0.2.1', 'address 192.0.2.2', 'address 192.0.2.3'] as const

  // proves abuse: Five addresses without a key announce
  test('hold half of the bytes together, of what is announced and of what is there; callers have the other half', () => {
    const book = openBook(100)
    const bodies = addresses.slice(0, 2).map((client) => announced(book, SHARE, client))
    expect(book.hold('announced', addresses[2], 1)).toBe('announced')
    const ofCallers = ['a', 'b'].map((client) => announced(book, SHARE, client))
    for (const body of [...bodies, ...ofCallers]) expect(body.move('inFlight')).toBeUndefined()
    expect(book.total('inFlight')).toEqual({ requests: 4, bytes: BYTES_MAX })
  })

  test('hold half of the places together, until one has left', () => {
    const book = openBook(4)
    const [leave] = addresses.slice(0, 2).map((client) => taken(book, 0, client))
    expect(book.hold('inFlight', addresses[2], 0)).toBe('addresses-share')
    for (const client of ['a', 'b']) giveBack(taken(book, 0, client))
    giveBack(leave)
    taken(book, 0, addresses[2])
  })

  test('have one item larger than their half let through, and nothing beside it', () => {
    const book = openBook(100)
    taken(book, BYTES_MAX / 2 + 1, addresses[0])
    expect(book.hold('inFlight', addresses[1], 0)).toBe('addresses-share')
    taken(book, SHARE)
  })
})

test("one item larger than its client's share is let through while its client holds nothing, and nothing beside it", () => {
  const book = openBook(100)
  const leave = taken(book, SHARE + 1)
  expect(book.hold('inFlight', 'a', 0)).toBe('client-share')
  giveBack(leave)
  taken(book, 1)
  expect(book.hold('inFlight', 'a', SHARE)).toBe('client-share')
})

test('where there are fewer places than clients in a share, each client still has one', () => {
  const book = openBook(1)
  taken(book, 0)
  expect([book.hold('inFlight', 'a', 0), book.hold('inFlight', 'b', 0)]).toEqual(['places', 'places'])
})

test('a place that is given back twice counts once', () => {
  const book = openBook(8)
  const leave = taken(book, SHARE / 2)
  taken(book, SHARE / 2)
  giveBack(leave)
  giveBack(leave)
  expect(book.hold('inFlight', 'a', SHARE / 2 + 1)).toBe('client-share')
  taken(book, SHARE / 2)
  expect(book.hold('inFlight', 'a', 0)).toBe('client-share')
})

test('what was refused takes nothing', () => {
  const book = openBook(8)
  expect(book.hold('inFlight', 'a', BYTES_MAX + 1)).toBe('memory')
  expect(book.total('inFlight')).toEqual({ requests: 0, bytes: 0 })
  taken(book, SHARE)
})

describe('a body that is announced', () => {
  // proves abuse: 4,096 connections announce a one-byte
  test('holds no place until it is there', () => {
    const book = openBook(4)
    const bodies = ['a', 'b', 'c', 'd'].map((client) => announced(book, 1, client))
    expect(book.total('inFlight')).toEqual({ requests: 0, bytes: 0 })
    expect(book.total('announced')).toEqual({ requests: 4, bytes: 4 })
    taken(book, 1, 'e')
    expect(bodies[0]?.move('inFlight')).toBeUndefined()
    expect([book.total('inFlight'), book.total('announced')]).toEqual([
      { requests: 2, bytes: 2 },
      { requests: 3, bytes: 3 },
    ])
  })

  test('finds no place where its client has its share by then, and is not expected any more', () => {
    const book = openBook(8)
    const bodies = [announced(book, 1), announced(book, 1)]
    taken(book, 0)
    expect(bodies[0]?.move('inFlight')).toBeUndefined()
    expect(bodies[1]?.move('inFlight')).toBe('client-share')
    expect(book.total('announced')).toEqual({ requests: 0, bytes: 0 })
  })

  test('takes no place once its request was answered, whenever it arrives then', () => {
    const book = openBook(4)
    const body = announced(book, 1)
    giveBack(body)
    expect(body.move('inFlight')).toBeUndefined()
    for (const column of ['announced', 'inFlight'] as const)
      expect(book.total(column)).toEqual({ requests: 0, bytes: 0 })
  })

  test('is not expected any more when its client has gone', () => {
    const book = openBook(4)
    const body = announced(book, 1)
    giveBack(body)
    expect(book.total('announced')).toEqual({ requests: 0, bytes: 0 })
    expect(book.total('inFlight')).toEqual({ requests: 0, bytes: 0 })
  })

  test('is one too many of its client at a quarter of the places and of the bytes; others may announce theirs', () => {
    const book = openBook(8)
    announced(book, 1)
    announced(book, 1)
    expect(book.hold('announced', 'a', 1)).toBe('announced')
    for (let i = 0; i < 100; i++) announced(book, 1, `client ${i}`)
    const large = openBook(8)
    announced(large, SHARE)
    expect(large.hold('announced', 'a', 1)).toBe('announced')
    announced(large, SHARE, 'b')
  })

  test('is refused at once where its client holds its places already', () => {
    const book = openBook(4)
    taken(book, 0)
    expect(book.hold('announced', 'a', 1)).toBe('client-share')
  })
})

test('is empty at once where nobody is inside, else when the last one has left', async () => {
  const book = openBook(8)
  await book.empty()
  const leaves = [taken(book, 1), taken(book, 0, 'b')]
  let empty = false
  const emptied = book.empty().then(() => (empty = true))
  for (const leave of leaves) {
    await Promise.resolve()
    expect(empty).toBe(false)
    giveBack(leave)
  }
  await emptied
  await book.empty()
})
