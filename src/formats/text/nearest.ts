// "Did you mean …?" for an unknown name.

/** With more different letters, two words are unrelated. */
const DISTANCE_MAX = 2

/**
 * Finds the known name that a misspelt name was most likely meant to be.
 * @returns undefined when no known name is similar
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let found: { name: string; distance: number } | undefined
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > DISTANCE_MAX) continue
    const distance = distanceBetween(name.toLowerCase(), candidate.toLowerCase())
    // One letter is much of a short name: `id` is no misspelling of `by`.
    if (distance > Math.min(DISTANCE_MAX, Math.floor(candidate.length / 2) - (candidate.length < 4 ? 0 : 1)))
      continue
    if (found === undefined || distance < found.distance) found = { name: candidate, distance }
  }
  return found?.name
}

/** ` (did you mean 'amount'?)`, or '' when no known name is similar. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = nearest(name, known)
  return meant === undefined ? '' : ` (did you mean '${meant}'?)`
}

/** Counts inserted, missing and replaced letters, and swapped neighbours. */
function distanceBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        swapped ? (beforeLast[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length] ?? 0
}
