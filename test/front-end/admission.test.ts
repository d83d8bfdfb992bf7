// How much is taken in at once, of all clients together and of one, and how a place is given back (docs/design-notes.md "Backpressure").
import { describe, expect, test } from 'vitest'
import { openAdmission, type Announced, type Leave, type Admission } from '../../src/server/http/admission.ts'

const BYTES_MAX = 64 * 1024 * 1024
const SHARE = BYTES_MAX / 4

/** A place that there must be. */
function taken(admission: Admission, bytes: number, client = 'a'): Leave {
  const leave = admission.take(bytes, client)
  if (typeof leave === 'string') throw new Error(`there is no place: ${leave}`)
  return leave
}

/** A body that may be announced. */
function announced(admission: Admission, bytes: number, client = 'a'): Announced {
  const body = admission.announce(bytes, client)
  if (typeof body === 'string') throw new Error(`nothing more may be announced: ${body}`)
  return body
}

describe('there is no place', () => {
  test('for one request more of a client than a quarter of all, until it has given one back; the others have theirs', () => {
    const admission = openAdmission(8)
    const leave = taken(admission, 0)
    taken(admission, 0)
    expect(admission.take(0, 'a')).toBe('client-share')
    taken(admission, 0, 'b')
    leave()
    taken(admission, 0)
  })

  test('for one request more than all clients may have together, until one has left', () => {
    const admission = openAdmission(4)
    const [leave] = ['a', 'b', 'c', 'd'].map((client) => taken(admission, 0, client))
    expect(admission.take(0, 'e')).toBe('places')
    leave?.()
    taken(admission, 0, 'e')
  })

  test('for one byte more of one client than a quarter of all, until it has given some back', () => {
    const admission = openAdmission(100)
    taken(admission, SHARE - 1)
    const leave = taken(admission, 1)
    expect(admission.take(1, 'a')).toBe('client-share')
    taken(admission, 0)
    taken(admission, SHARE, 'b')
    leave()
    taken(admission, 1)
  })

  test('for one byte more than all clients may send together, until one has left', () => {
    const admission = openAdmission(100)
    const [leave] = ['a', 'b', 'c', 'd'].map((client) => taken(admission, SHARE, client))
    expect(admission.take(1, 'e')).toBe('memory')
    leave?.()
    taken(admission, SHARE, 'e')
    expect(admission.take(1, 'a')).toBe('memory')
  })
})

describe('clients without a key', () => {
  const addresses = ['address 192.0.2.1', 'address 192.0.2.2', 'address 192.0.2.3'] as const

  // proves abuse: Five addresses without a key announce
  test('hold half of the bytes together, of what is announced and of what is there; callers have the other half', () => {
    const admission = openAdmission(100)
    const bodies = addresses.slice(0, 2).map((client) => announced(admission, SHARE, client))
    expect(admission.announce(1, addresses[2])).toBe('announced')
    const ofCallers = ['a', 'b'].map((client) => announced(admission, SHARE, client))
    for (const body of [...bodies, ...ofCallers]) expect(body.arrived()).toBeTypeOf('function')
    expect(admission.places()).toEqual({ requests: 4, bytes: BYTES_MAX })
  })

  test('hold half of the places together, until one has left', () => {
    const admission = openAdmission(4)
    const [leave] = addresses.slice(0, 2).map((client) => taken(admission, 0, client))
    expect(admission.take(0, addresses[2])).toBe('addresses-share')
    for (const client of ['a', 'b']) taken(admission, 0, client)()
    leave?.()
    taken(admission, 0, addresses[2])
  })

  test('have one item larger than their half let through, and nothing beside it', () => {
    const admission = openAdmission(100)
    taken(admission, BYTES_MAX / 2 + 1, addresses[0])
    expect(admission.take(0, addresses[1])).toBe('addresses-share')
    taken(admission, SHARE)
  })
})

test("one item larger than its client's share is let through while its client holds nothing, and nothing beside it", () => {
  const admission = openAdmission(100)
  const leave = taken(admission, SHARE + 1)
  expect(admission.take(0, 'a')).toBe('client-share')
  leave()
  taken(admission, 1)
  expect(admission.take(SHARE, 'a')).toBe('client-share')
})

test('where there are fewer places than clients in a share, each client still has one', () => {
  const admission = openAdmission(1)
  taken(admission, 0)
  expect([admission.take(0, 'a'), admission.take(0, 'b')]).toEqual(['places', 'places'])
})

test('a place that is given back twice counts once', () => {
  const admission = openAdmission(8)
  const leave = taken(admission, SHARE / 2)
  taken(admission, SHARE / 2)
  leave()
  leave()
  expect(admission.take(SHARE / 2 + 1, 'a')).toBe('client-share')
  taken(admission, SHARE / 2)
  expect(admission.take(0, 'a')).toBe('client-share')
})

test('what was refused takes nothing', () => {
  const admission = openAdmission(8)
  expect(admission.take(BYTES_MAX + 1, 'a')).toBe('memory')
  expect(admission.places()).toEqual({ requests: 0, bytes: 0 })
  taken(admission, SHARE)
})

describe('a body that is announced', () => {
  // proves abuse: 4,096 connections announce a one-byte
  test('holds no place until it is there', () => {
    const admission = openAdmission(4)
    const bodies = ['a', 'b', 'c', 'd'].map((client) => announced(admission, 1, client))
    expect(admission.places()).toEqual({ requests: 0, bytes: 0 })
    expect(admission.announced()).toEqual({ requests: 4, bytes: 4 })
    taken(admission, 1, 'e')
    expect(bodies[0]?.arrived()).toBeTypeOf('function')
    expect([admission.places(), admission.announced()]).toEqual([
      { requests: 2, bytes: 2 },
      { requests: 3, bytes: 3 },
    ])
  })

  test('finds no place where its client has its share by then, and is not expected any more', () => {
    const admission = openAdmission(8)
    const bodies = [announced(admission, 1), announced(admission, 1)]
    taken(admission, 0)
    expect(bodies[0]?.arrived()).toBeTypeOf('function')
    expect(bodies[1]?.arrived()).toBe('client-share')
    expect(admission.announced()).toEqual({ requests: 0, bytes: 0 })
  })

  test('is not expected any more when its client has gone', () => {
    const admission = openAdmission(4)
    const body = announced(admission, 1)
    body.aborted()
    expect(admission.announced()).toEqual({ requests: 0, bytes: 0 })
    expect(admission.places()).toEqual({ requests: 0, bytes: 0 })
  })

  test('is one too many of its client at a quarter of the places and of the bytes; others may announce theirs', () => {
    const admission = openAdmission(8)
    announced(admission, 1)
    announced(admission, 1)
    expect(admission.announce(1, 'a')).toBe('announced')
    for (let i = 0; i < 100; i++) announced(admission, 1, `client ${i}`)
    const large = openAdmission(8)
    announced(large, SHARE)
    expect(large.announce(1, 'a')).toBe('announced')
    announced(large, SHARE, 'b')
  })

  test('is refused at once where its client holds its places already', () => {
    const admission = openAdmission(4)
    taken(admission, 0)
    expect(admission.announce(1, 'a')).toBe('client-share')
  })
})

test('is empty at once where nobody is inside, else when the last one has left', async () => {
  const admission = openAdmission(8)
  await admission.empty()
  const leaves = [taken(admission, 1), taken(admission, 0, 'b')]
  let empty = false
  const emptied = admission.empty().then(() => (empty = true))
  for (const leave of leaves) {
    await Promise.resolve()
    expect(empty).toBe(false)
    leave()
  }
  await emptied
  await admission.empty()
})
