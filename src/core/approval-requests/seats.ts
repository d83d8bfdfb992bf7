// Who stands for which signal, where a policy asks for approvals for several: each person stands for one.

/** A signal and the people whose approvals count for it. */
interface Signal<Person> {
  readonly quorum: number
  readonly takes: (person: Person) => boolean
}

/**
 * Gives people to signals, so that the signals before others are met if they can be, and as many approvals as possible count. People who are
 * given to one signal are moved to another one where that makes room for somebody who counts for the first alone (a maximum bipartite
 * matching by augmenting paths).
 * @param signals the most important first
 * @param people in the order of preference
 * @returns for each signal its people, in their order; fewer than its quorum where there are no more
 */
export function seat<Person>(
  signals: readonly Signal<Person>[],
  people: readonly Person[],
): readonly (readonly Person[])[] {
  const signalOf = new Map<Person, number>()
  const give = (signal: number, tried: Set<Person>): boolean => {
    for (const person of people) {
      if (tried.has(person) || !signals[signal]!.takes(person)) continue
      tried.add(person)
      const current = signalOf.get(person)
      if (current !== undefined && !give(current, tried)) continue
      signalOf.set(person, signal)
      return true
    }
    return false
  }
  for (const [signal, { quorum }] of signals.entries())
    for (let missing = quorum; missing > 0 && give(signal, new Set()); missing--);
  return signals.map((_, signal) => people.filter((person) => signalOf.get(person) === signal))
}
