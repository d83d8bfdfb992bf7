// `{ by: history, window, sum?, per?, where? }`: how many executions there were under this policy within the window before now, or the total
// of a parameter over them: velocity limits (decisions §6). Released executions count before they have ended: they may still have an effect.
import { sumOfExecutions, sumOfGroup } from '../../src/store/tables/history-entries.ts'
import type { SignalVerifier } from '../../src/formats/schemas/policy.ts'
import { countable, windowMs } from '../../src/core/policy/counting.ts'
import type { StateVerifier } from './verifier.ts'

type History = Extract<SignalVerifier, { by: 'history' }>

export const history: StateVerifier<History> = {
  when: 'with the claim',
  // Executions that a limit of the policy counts together are claimed one after the other: each sees those before it. An execution that a
  // group does not count waits only for executions that it counts.
  locks({ accepted, version, now }) {
    const { request, transaction } = accepted
    const all = JSON.stringify(['history', request.caller.callerId, transaction.policy.name])
    const execution = countable(accepted)
    return [
      ...(version.limitedSince === undefined ? [] : [{ key: all }]),
      ...version.groupings.map(({ groupOf, counts }) => ({
        key: groupOf(execution),
        ...(counts(execution, now) ? {} : { shared: true as const }),
      })),
    ]
  },

  async read({ signal, verifier, accepted, version, now }, { sql }) {
    const { window, sum } = verifier
    const grouping = version.policy.groupings.get(signal)
    const filter = {
      since: new Date(now.getTime() - windowMs(window)).toISOString(),
      ...(sum === undefined ? {} : { parameter: sum.split('.').slice(2) }),
    }
    if (grouping !== undefined)
      return { value: await sumOfGroup(sql, { ...filter, groupHash: grouping.groupOf(countable(accepted)) }) }
    const value = await sumOfExecutions(sql, {
      ...filter,
      callerId: accepted.request.caller.callerId,
      policy: accepted.transaction.policy.name,
      unlisted: new Date(Date.parse(version.limitedSince ?? now.toISOString()) + UNLISTED_MS).toISOString(),
    })
    return { value }
  },
}

/** After this time every instance knows of a new limit, and lists the executions that it releases. */
const UNLISTED_MS = 60_000
