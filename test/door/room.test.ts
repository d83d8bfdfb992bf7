// How much the door takes in at once, of all callers and of one, and how a place is given back (docs/design-notes.md "Backpressure").
import { describe, expect, test } from 'vitest'
import { openRoom, type Room } from '../../src/door/room.ts'

const BYTES_MAX = 64 * 1024 * 1024
const SHARE = BYTES_MAX / 4

/** A place that there must be. out  gives it back */
function taken(room: Room, bodyBytes: number, caller = 'a'): () => void {
  const leave = room.take(bodyBytes, caller)
  if (leave === undefined) throw new Error('there is no room')
  return leave
}

describe('there is no room', () => {
  test('for one request more than there may be, whoever sends it, until one has left', () => {
    const room = openRoom(2)
    const leave = taken(room, 0)
    taken(room, 0, 'b')
    expect(room.take(0, 'c')).toBeUndefined()
    leave()
    taken(room, 0, 'c')
    expect(room.take(0, 'a')).toBeUndefined()
  })

  test('for one byte more of one caller than a quarter of all, until it has given some back; the others have theirs', () => {
    const room = openRoom(10)
    expect(room.take(SHARE + 1, 'a')).toBeUndefined()
    taken(room, SHARE - 1)
    const leave = taken(room, 1)
    expect(room.take(1, 'a')).toBeUndefined()
    taken(room, 0)
    taken(room, SHARE, 'b')
    leave()
    taken(room, 1)
  })

  test('for one byte more than all callers may send together, until one has left', () => {
    const room = openRoom(10)
    const [leave] = ['a', 'b', 'c', 'd'].map((caller) => taken(room, SHARE, caller))
    expect(room.take(1, 'e')).toBeUndefined()
    leave?.()
    taken(room, SHARE, 'e')
    expect(room.take(1, 'a')).toBeUndefined()
  })
})

test('a place that is given back twice counts once', () => {
  const room = openRoom(2)
  const leave = taken(room, SHARE / 2)
  taken(room, SHARE / 2)
  leave()
  leave()
  expect(room.take(SHARE / 2 + 1, 'a')).toBeUndefined()
  taken(room, SHARE / 2)
  expect(room.take(0, 'b')).toBeUndefined()
})

test('what was refused takes no room', () => {
  const room = openRoom(2)
  expect(room.take(SHARE + 1, 'a')).toBeUndefined()
  taken(room, SHARE)
  taken(room, 0, 'b')
})

test('is empty at once where nobody is inside, else when the last one has left', async () => {
  const room = openRoom(2)
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
