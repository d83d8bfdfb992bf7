// A thread works by what was in effect when its batch was sent, and never by less.
import { expect, test } from 'vitest'
import { followAuthority } from '../../workers/authority/follow.ts'
import { stateOf } from './state-of.ts'

test('a batch that overtakes a change waits until it is in effect', async () => {
  const taken: string[] = []
  const { put, untilInEffect } = followAuthority(stateOf('9'), ({ epoch }) => {
    taken.push(epoch)
  })
  await untilInEffect('9')
  expect(taken).toEqual([])

  const waiting = untilInEffect('11').then(() => [...taken])
  for (const epoch of ['10', '11']) put(stateOf(epoch))
  expect(await waiting).toEqual(['10', '11'])
  await untilInEffect('10')
})
