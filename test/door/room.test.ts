// How much is taken in at once, of all clients together and of one, and how a place is given back (docs/design-notes.md "Backpressure").
import { describe, expect, test } from 'vitest'
import { openRoom, type Announced, type Leave, type Room } from '../../src/server/http/room.ts'

const BYTES_MAX = 64 * 1024 * 1024
const SHARE = BYTES_MAX / 4

/** A place that there must be. */
function taken(room: Room, bytes: number, client = 'a'): Leave {
  const leave = room.take(bytes, client)
  if (leave === undefined) throw new Error('there is no place')
  return leave
}

/** A body that may be announced. */
function announced(room: Room, bytes: number, client = 'a'): Announced {
  const body = room.announce(bytes, client)
  if (body === undefined) throw new Error('nothing more may be announced')
  return body
}

describe('there is no place', () => {
  test('for one request more of a client than a quarter of all, until it has given one back; the others have theirs', () => {
    const room = openRoom(8)
    const leave = taken(room, 0)
    taken(room, 0)
    expect(room.take(0, 'a')).toBeUndefined()
    taken(room, 0, 'b')
    leave()
    taken(room, 0)
  })

  test('for one request more than all clients may have together, until one has left', () => {
    const room = openRoom(4)
    const [leave] = ['a', 'b', 'c', 'd'].map((client) => taken(room, 0, client))
    expect(room.take(0, 'e')).toBeUndefined()
    leave?.()
    taken(room, 0, 'e')
  })

  test('for one byte more of one client than a quarter of all, until it has given some back', () => {
    const room = openRoom(100)
    taken(room, SHARE - 1)
    const leave = taken(room, 1)
    expect(room.take(1, 'a')).toBeUndefined()
    taken(room, 0)
    taken(room, SHARE, 'b')
    leave()
    taken(room, 1)
  })

  test('for one byte more than all clients may send together, until one has left', () => {
    const room = openRoom(100)
    const [leave] = ['a', 'b', 'c', 'd'].map((client) => taken(room, SHARE, client))
    expect(room.take(1, 'e')).toBeUndefined()
    leave?.()
    taken(room, SHARE, 'e')
    expect(room.take(1, 'a')).toBeUndefined()
  })
})

test("one item larger than its client's share is let through while its client holds nothing, and nothing beside it", () => {
  const room = openRoom(100)
  const leave = taken(room, SHARE + 1)
  expect(room.take(0, 'a')).toBeUndefined()
  leave()
  taken(room, 1)
  expect(room.take(SHARE, 'a')).toBeUndefined()
})

test('where there are fewer places than clients in a share, each client still has one', () => {
  const room = openRoom(1)
  taken(room, 0)
  expect([room.take(0, 'a'), room.take(0, 'b')]).toEqual([undefined, undefined])
})

test('a place that is given back twice counts once', () => {
  const room = openRoom(8)
  const leave = taken(room, SHARE / 2)
  taken(room, SHARE / 2)
  leave()
  leave()
  expect(room.take(SHARE / 2 + 1, 'a')).toBeUndefined()
  taken(room, SHARE / 2)
  expect(room.take(0, 'a')).toBeUndefined()
})

test('what was refused takes nothing', () => {
  const room = openRoom(8)
  expect(room.take(BYTES_MAX + 1, 'a')).toBeUndefined()
  expect(room.places()).toEqual({ requests: 0, bytes: 0 })
  taken(room, SHARE)
})

describe('a body that is announced', () => {
  test('holds no place until it is there', () => {
    const room = openRoom(4)
    const bodies = ['a', 'b', 'c', 'd'].map((client) => announced(room, 1, client))
    expect(room.places()).toEqual({ requests: 0, bytes: 0 })
    expect(room.announced()).toEqual({ requests: 4, bytes: 4 })
    taken(room, 1, 'e')
    expect(bodies[0]?.arrived()).toBeTypeOf('function')
    expect([room.places(), room.announced()]).toEqual([
      { requests: 2, bytes: 2 },
      { requests: 3, bytes: 3 },
    ])
  })

  test('finds no place where its client has its share by then, and is not expected any more', () => {
    const room = openRoom(8)
    const bodies = [announced(room, 1), announced(room, 1)]
    taken(room, 0)
    expect(bodies[0]?.arrived()).toBeTypeOf('function')
    expect(bodies[1]?.arrived()).toBeUndefined()
    expect(room.announced()).toEqual({ requests: 0, bytes: 0 })
  })

  test('is not expected any more when its client has gone', () => {
    const room = openRoom(4)
    const body = announced(room, 1)
    body.aborted()
    expect(room.announced()).toEqual({ requests: 0, bytes: 0 })
    expect(room.places()).toEqual({ requests: 0, bytes: 0 })
  })

  test('is one too many of its client at a quarter of the places and of the bytes; others may announce theirs', () => {
    const room = openRoom(8)
    announced(room, 1)
    announced(room, 1)
    expect(room.announce(1, 'a')).toBeUndefined()
    for (let i = 0; i < 100; i++) announced(room, 1, `client ${i}`)
    const large = openRoom(8)
    announced(large, SHARE)
    expect(large.announce(1, 'a')).toBeUndefined()
    announced(large, SHARE, 'b')
  })

  test('is refused at once where its client holds its places already', () => {
    const room = openRoom(4)
    taken(room, 0)
    expect(room.announce(1, 'a')).toBeUndefined()
  })
})

test('is empty at once where nobody is inside, else when the last one has left', async () => {
  const room = openRoom(8)
  await room.empty()
  const leaves = [taken(room, 1), taken(room, 0, 'b')]
  let empty = false
  const emptied = room.empty().then(() => (empty = true))
  for (const leave of leaves) {
    await Promise.resolve()
    expect(empty).toBe(false)
    leave()
  }
  await emptied
  await room.empty()
})
