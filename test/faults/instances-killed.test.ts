// One of several instances is killed under load: the others go on, and what it had under way is in doubt, for all to see.
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { readStored } from '../evidence.ts'
import { until, type TestService } from '../service.ts'
import { aCountedTransaction, checker, expectAccounted, openFleet, startCallers } from './instances.ts'

// proves fault: kill -9 of one instance
test('kill -9 of one: the others answer as before, list what it left in doubt, and never run it again', async () => {
  const fleet = await openFleet()
  const [victim, ...others] = await fleet.startThree()
  let inService: readonly TestService[] = [victim, ...others]
  const callers = startCallers(() => inService)
  await callers.more(40)
  // At least one is under way for certain: its call outside has happened, and nobody will hear how it ended.
  const held = aCountedTransaction({ hold: true })
  const heldId = held.businessTransactionId
  const unheard = victim.post('/execute', held).then(
    () => 'answered',
    () => 'lost',
  )
  await until(() => fleet.receiver.calls.has(heldId), 'the call')

  victim.process.kill('SIGKILL')
  inService = others
  await once(victim.process, 'exit')
  expect(await unheard).toBe('lost')
  await callers.more(100)
  await callers.stop()

  expect(callers.seen.filter(({ service, status }) => service !== victim && status !== 200)).toEqual([])
  expect(callers.seen.filter(({ status }) => status !== 200 && status !== undefined)).toEqual([])
  await expectAccounted(fleet, callers)
  const { inDoubt, claimed } = await readStored(fleet.database.pool)
  expect(inDoubt).toContain(heldId)
  expect(callers.inDoubt).toEqual(inDoubt.difference(new Set([heldId])))

  const calls = new Map(fleet.receiver.calls)
  for (const instance of others) {
    const listed = await until(async () => {
      const { body } = await instance.get('/execution-intents/unfinalized', { key: checker.key })
      const ids = (body.intents as { businessTransactionId: string }[]).map(
        (one) => one.businessTransactionId,
      )
      return inDoubt.isSubsetOf(new Set(ids)) ? ids : undefined
    }, 'the list')
    expect(new Set(listed)).toEqual(inDoubt)
    for (const id of inDoubt) {
      const { status } = await instance.post('/execute', aCountedTransaction({}, id))
      expect(status).toBe(409)
    }
  }
  expect(fleet.receiver.calls).toEqual(calls)
  // An execution that it had not claimed was never done, and its callers have carried it out elsewhere.
  expect(callers.seen.filter(({ id }) => !claimed.has(id))).toEqual([])
  for (const instance of others) expect(await instance.stop()).toBe(0)
})
