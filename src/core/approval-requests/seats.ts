// Assigns approvers to signals when a policy asks for approvals for several signals: each person counts for one signal.

/** A signal and the people whose approvals count for it. */
interface Signal<Person> {
  readonly quorum: number
  readonly takes: (person: Person) => boolean
}

/**
 * Assigns people to signals: earlier signals are met first if possible, and as many approvals as possible count. A person moves to another
 * signal when that frees a place for somebody who fits only the first signal (a maximum bipartite matching by augmenting paths).
 * @param signals the most important first
 * @param people in the order of preference
 * @returns the people of each signal, in their order; fewer than its quorum when not enough people fit
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
