// `{ by: history, window, sum? }`: how many executions the caller had under this policy within the window before now, or the total of
// a parameter over them: velocity limits (decisions §6). Released ones count before they have ended: an effect may come of them.
import { sumOfExecutions } from '../../src/core/tables/history-entries.ts'
import type { SignalVerifier } from '../../src/core/schemas/policy.ts'
import type { StateVerifier } from './verifier.ts'

type History = Extract<SignalVerifier, { by: 'history' }>

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

export const history: StateVerifier<History> = {
  when: 'with the claim',
  // Executions of one caller under one policy are admitted one after the other: each sees those before it.
  locks: ({ accepted: { request, transaction } }) => [
    { key: JSON.stringify(['history', request.caller.callerId, transaction.policy.name]) },
  ],

  async read({ verifier, accepted, limitedSince, now }, { sql }) {
    const { window, sum } = verifier
    const value = await sumOfExecutions(sql, {
      callerId: accepted.request.caller.callerId,
      policy: accepted.transaction.policy.name,
      unlisted: new Date(Date.parse(limitedSince ?? now.toISOString()) + UNLISTED_MS).toISOString(),
      since: new Date(now.getTime() - windowMs(window)).toISOString(),
      ...(sum === undefined ? {} : { parameter: sum.split('.').slice(2) }),
    })
    return { value }
  },
}

/** After this time every instance knows of a new limit, and lists what it releases. */
const UNLISTED_MS = 60_000

/** `window` is a whole number and m, h or d, as the policy's schema requires. */
function windowMs(window: string): number {
  return Number(window.slice(0, -1)) * (UNIT_MS[window.slice(-1)] ?? Number.NaN)
}
