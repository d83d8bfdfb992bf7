// Verifies many texts: one report on each piece of evidence in them.
import { accountsOf, type Account } from './account.ts'
import { noEvidence, verifyFileBy, type Report, type Trusted } from './index.ts'
import { countLines, isLines } from './lines.ts'
import type { Summing } from './summary.ts'
import { Unusable } from './unusable.ts'

interface Source {
  readonly name: string
  readonly text: string
}

/** Never empty. A text that is not evidence gets one report, `unknown`, that cannot be checked. */
export function reportsOn(text: string, trusted: Trusted): Report[] {
  try {
    return verifyFileBy(text, trusted)
  } catch (error) {
    if (error instanceof Unusable) return [noEvidence(error.message)]
    throw error
  }
}

export interface Found {
  readonly report: Report
  /** The description of the evidence in words; undefined when the text is no evidence. */
  readonly account: Account | undefined
  /** Counted from 1; undefined when the text is not read line by line. */
  readonly line: number | undefined
}

/** Yields each piece of evidence in a text on demand, and adds it to the summary. */
export function* reportsIn({ name, text }: Source, trusted: Trusted, summing: Summing): Generator<Found> {
  const all = text.split('\n')
  const [first = '', ...others] = all.filter((line) => line.trim() !== '')
  const lines = isLines(name, first, others.length > 0) ? countLines() : undefined
  for (const [i, one] of (lines === undefined ? [text] : all).entries()) {
    if (lines?.take(one) === false) continue
    const accounts = accountsOf(one)
    for (const [j, report] of reportsOn(one, trusted).entries()) {
      summing.add(report)
      yield { report, account: accounts[j], line: lines === undefined ? undefined : i + 1 }
    }
  }
  summing.addFile(name, lines?.isWhole() === false)
}
