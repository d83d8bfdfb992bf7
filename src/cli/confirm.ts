// The question that a human answers before a signature is made.
import { createInterface } from 'node:readline'

/** One line of standard input; no at its end. */
export async function isConfirmed(question: string): Promise<boolean> {
  process.stderr.write(question)
  const lines = createInterface({ input: process.stdin })
  try {
    for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line)
    return false
  } finally {
    lines.close()
    process.stdin.pause()
  }
}
