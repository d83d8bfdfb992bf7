// The questions that a human answers before a signature is made.
import { createInterface } from 'node:readline'

/** Asks a question, and resolves to one line of standard input; '' at its end. */
type Ask = (question: string) => Promise<string>

/** @param use asks its questions by `ask`, each of which takes the next line */
export async function asking<T>(use: (ask: Ask) => Promise<T>): Promise<T> {
  const lines = createInterface({ input: process.stdin })
  const answers = lines[Symbol.asyncIterator]()
  try {
    return await use(async (question) => {
      process.stderr.write(question)
      const answer = await answers.next()
      return answer.done === true ? '' : answer.value.trim()
    })
  } finally {
    lines.close()
    process.stdin.pause()
  }
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer)
}

export function isConfirmed(question: string): Promise<boolean> {
  return asking(async (ask) => isYes(await ask(question)))
}
