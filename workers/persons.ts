// The persons of this thread, by the present state of human authority.
import type { Persons } from '../src/formats/people/persons.ts'

export interface PersonsInEffect {
  readonly current: () => Persons
  replace(persons: Persons): void
}

export function openPersons(persons: Persons): PersonsInEffect {
  let newest = persons
  return {
    current: () => newest,
    replace(changed) {
      newest = changed
    },
  }
}
