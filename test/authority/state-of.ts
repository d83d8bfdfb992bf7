// An authority of which only the epoch matters.
import type { AuthorityState } from '../../src/core/authority-state.ts'
import { joinPersons } from '../../src/core/persons.ts'

export const stateOf = (epoch: string): AuthorityState => ({
  epoch,
  policies: [],
  approvers: [],
  externalConnectors: [],
  webhookRules: [],
  callerKeys: [],
  persons: joinPersons([]),
})
