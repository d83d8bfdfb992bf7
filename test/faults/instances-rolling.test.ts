// A rolling restart under load: SIGTERM one after another, each started again before the next (docs/handbook/operating.md
// "Several instances").
import { expect, test } from 'vitest'
import { aCountedTransaction, expectAccounted, openFleet, startCallers } from './instances.ts'
import type { TestService } from '../service.ts'

// proves fault: A rolling restart under load
test('callers see nothing of a rolling restart: every request to an instance in service is answered 200', async () => {
  const fleet = await openFleet()
  const instances = await fleet.startThree()
  const outOfService = new Set<TestService>()
  const inService = () => instances.filter((instance) => !outOfService.has(instance))
  const callers = startCallers(inService)
  await callers.more(50)

  for (const [i, instance] of instances.entries()) {
    outOfService.add(instance)
    expect(await instance.stop()).toBe(0)
    await callers.more(30)
    instances[i] = await fleet.start()
    await callers.more(30)
  }
  await callers.stop()

  // A connection that was being made when its instance stopped may be refused. Nothing has happened then, and the caller goes on.
  const refused = callers.seen.filter(({ status }) => status === undefined)
  expect(refused.filter(({ service }) => !outOfService.has(service))).toEqual([])
  expect(callers.seen.filter(({ status }) => status !== undefined && status !== 200)).toEqual([])
  expect(callers.inDoubt).toEqual(new Set())
  expect(new Set(callers.seen.map(({ service }) => service)).size).toBe(6)
  await expectAccounted(fleet, callers)
  for (const instance of instances) {
    expect((await instance.post('/execute', aCountedTransaction())).status).toBe(200)
    expect(await instance.stop()).toBe(0)
  }
})
