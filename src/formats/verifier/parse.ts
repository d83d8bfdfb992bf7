// Evidence and key sets as text: JSON with exactly one reading, or an error. A text with two could be shown to a reader
// with one meaning and verified with another.
import type { Json } from '../json/canonical.ts'
import { MalformedJson, parseJsonText } from '../json/text.ts'
import { Unusable } from './unusable.ts'

/** A body may be 64 deep (decisions §3); a record contains its parts deeper, and a file of records one level deeper again. */
const DEPTH_MAX = 80

/**
 * @param what name of the text in the error message
 * @throws Unusable
 */
export function parseEvidence(text: string, what: string): Json {
  // A proof verifies only together with the evidence that it proves.
  if (text.startsWith('c2sp.org/tlog-proof@'))
    throw new Unusable(
      `${what} is a proof of the log alone. Verify the bundle of the execution, which holds its proofs (GET /trust-records/{id}?bundle), or fetch and check one proof with \`countersign log proof\`.`,
    )
  if (text.startsWith('\ufeff'))
    throw new Unusable(
      `${what} is not JSON with exactly one reading (it begins with a byte order mark): save it as UTF-8 without one.`,
    )
  try {
    return parseJsonText(text, DEPTH_MAX) as Json
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error
    throw new Unusable(
      `${what} is not JSON with exactly one reading (${error.message}): save it as it was answered.`,
    )
  }
}
