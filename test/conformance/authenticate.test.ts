// How a presented key is compared (interface §5 "compares in constant time"): a time cannot be measured here, the calls can.
import * as crypto from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { parseCallers } from '../../src/core/callers/callers.ts'
import { openCallers } from '../../src/server/callers.ts'

const compare = vi.hoisted(() => vi.fn<typeof crypto.timingSafeEqual>())
vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>()
  return { ...real, timingSafeEqual: compare.mockImplementation(real.timingSafeEqual) }
})

const rawKeys = ['csk_first', 'csk_second', 'csk_third']
const callers = parseCallers(
  JSON.stringify(
    rawKeys.map((key) => ({ callerId: key.slice(4), keyHash: crypto.hash('sha256', key, 'hex') })),
  ),
)

// proves §5 Keys are issued by an operator
test.each([...rawKeys, 'csk_unknown'])(
  '%s is compared as a whole with every known hash, by timingSafeEqual, also after a match',
  (rawKey) => {
    compare.mockClear()
    const found = openCallers(callers, { callerKeys: [], approvers: [] }).authenticate(`Bearer ${rawKey}`)
    expect(found?.caller.callerId).toBe(rawKey === 'csk_unknown' ? undefined : rawKey.slice(4))
    const presented = crypto.hash('sha256', rawKey, 'buffer')
    expect(compare.mock.calls).toEqual(callers.map(({ keyHash }) => [Buffer.from(keyHash, 'hex'), presented]))
  },
)
