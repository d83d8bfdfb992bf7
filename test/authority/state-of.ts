// An authority of which only the epoch matters.
import type { AuthorityState } from '../../src/core/callers/authority-state.ts'
import { joinPersons } from '../../src/formats/people/persons.ts'

export const stateOf = (epoch: string): AuthorityState => ({
  epoch,
  policies: [],
  approvers: [],
  externalConnectors: [],
  webhookRules: [],
  callerKeys: [],
  persons: joinPersons([]),
})
