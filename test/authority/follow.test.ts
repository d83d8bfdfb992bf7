// A thread works by what was in effect when its batch was sent, and never by less.
import { MessageChannel } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import type { AuthorityState } from '../../src/core/authority-state.ts'
import { joinPersons } from '../../src/core/persons.ts'
import { followAuthority } from '../../workers/authority/follow.ts'

const { port1: ours, port2: theirs } = new MessageChannel()
afterAll(() => theirs.close())

const stateOf = (epoch: string): AuthorityState => ({
  epoch,
  policies: [],
  approvers: [],
  externalConnectors: [],
  webhookRules: [],
  callerKeys: [],
  persons: joinPersons([]),
})

test('a batch that overtakes a change waits until it is in effect', async () => {
  const taken: string[] = []
  const inEffect = followAuthority(stateOf('9'), ours, ({ epoch }) => {
    taken.push(epoch)
  })
  await inEffect('9')
  expect(taken).toEqual([])

  const waiting = inEffect('11').then(() => [...taken])
  for (const epoch of ['10', '11'])
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
    theirs.postMessage(stateOf(epoch))
  expect(await waiting).toEqual(['10', '11'])
  await inEffect('10')
})
