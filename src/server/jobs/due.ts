// Work that is due from time to time, on every instance. The database gives each due piece to one instance alone (src/store/tables/due.ts); the
// pieces are done concurrently, so that none waits for another.
import { errorText } from '../../formats/text/error-text.ts'
import { openProblems, repeat } from './repeat.ts'

/** How often the state for /ready and the metrics is read. */
const STATE_EVERY_MS = 5_000

interface DueWork<Piece> {
  readonly everyMs: number
  /** @param underWay pieces that are not settled yet */
  readonly take: (underWay: readonly Piece[]) => Promise<readonly Piece[]>
  readonly settle: (piece: Piece) => Promise<void>
  /** Called for a piece that was not settled: it is due again later. */
  readonly onUnsettled: (piece: Piece, reason: string) => void
  /** Reads the state for /ready and the metrics. */
  readonly readState?: () => Promise<void>
  /** Called when looking for work fails for another reason than before. */
  readonly onProblem?: (reason: string) => void
}

/**
 * Takes due pieces and settles them, until the signal aborts.
 * @returns a function that resolves after the abort, when the pieces that were under way have ended: to those pieces
 */
export function startDueWork<Piece>(
  signal: AbortSignal,
  { everyMs, take, settle, onUnsettled, readState, onProblem }: DueWork<Piece>,
): () => Promise<readonly Piece[]> {
  const underWay = new Map<Piece, Promise<void>>()
  const problems = openProblems()
  let readAtMs = -Infinity

  async function attempt(piece: Piece): Promise<void> {
    await settle(piece).catch((error: unknown) => {
      if (!signal.aborted) onUnsettled(piece, errorText(error))
    })
    if (!signal.aborted) underWay.delete(piece)
  }

  async function look(): Promise<number> {
    try {
      for (const piece of await take([...underWay.keys()])) underWay.set(piece, attempt(piece))
      if (readState !== undefined && performance.now() - readAtMs >= STATE_EVERY_MS) {
        readAtMs = performance.now()
        await readState()
      }
      problems.become([])
    } catch (error) {
      if (!signal.aborted) problems.become([errorText(error)], onProblem)
    }
    return everyMs
  }

  const looking = repeat(signal, look)
  return async () => {
    await looking
    await Promise.all(underWay.values())
    return [...underWay.keys()]
  }
}
