// When requests are due, from the rate on the command line. Whether a machine keeps up with them is no test.
import { expect, test } from 'vitest'
import { dueSeconds, openPace, rateAt } from '../../bench/pace.ts'
import { until } from '../service.ts'

test('at a constant rate requests are due at even intervals', () => {
  const due = [...dueSeconds([{ from: 4, to: 4 }], 2)]
  expect(due).toEqual([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75])
})

test.each([
  [0, 100],
  [100, 0],
  [20, 60],
])('a ramp from %i to %i has as many requests by any time as its rate adds up to', (from, to) => {
  const seconds = 10
  const due = [...dueSeconds([{ from, to }], seconds)]
  expect(due).toHaveLength(((from + to) / 2) * seconds)
  expect(due[0]).toBe(0)
  for (const [i, at] of due.entries())
    expect(from * at + ((to - from) * at ** 2) / (2 * seconds)).toBeCloseTo(i, 6)
})

test('stages follow one another', () => {
  const stages = [
    { from: 0, to: 4 },
    { from: 2, to: 2 },
  ]
  const due = [...dueSeconds(stages, 1)]
  expect(due.slice(-2)).toEqual([1, 1.5])
  expect([0, 0.5, 1, 1.9].map((at) => rateAt(stages, 1, at))).toEqual([0, 2, 2, 2])
})

test('a rate so low that nothing is due sends one request', () => {
  expect([...dueSeconds([{ from: 0, to: 0 }], 1)]).toEqual([0])
})

test('a wait that would outlast the run ends the connection, and what falls due meanwhile is not sent', async () => {
  const { signal } = new AbortController()
  const pace = openPace({ seconds: 0.2, stages: [{ from: 50, to: 50 }], signal })
  const ended = await new Promise<string>((resolve) => {
    pace.take((dueMs) => {
      expect(dueMs).toBeGreaterThan(0)
      const [go, end] = [() => resolve('sent again'), () => resolve('over')]
      pace.rest({ ms: 1000, skips: true, go, end })
    })
  })
  expect(ended).toBe('over')
  await until(() => pace.notSent() === 9, 'the other nine to fall due')
})
