// Many texts at once: a report on each piece of evidence in them.
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

/** The reports on a text, one text after the other, while they are asked for; added to the summary too. */
export function* reportsIn({ name, text }: Source, trusted: Trusted, summing: Summing): Generator<Report> {
  const [first = '', ...others] = text.split('\n').filter((line) => line.trim() !== '')
  const lines = isLines(name, first, others.length > 0) ? countLines() : undefined
  for (const one of lines === undefined ? [text] : [first, ...others]) {
    if (lines?.take(one) === false) continue
    for (const report of reportsOn(one, trusted)) {
      summing.add(report)
      yield report
    }
  }
  summing.addFile(name, lines?.isWhole() === false)
}
