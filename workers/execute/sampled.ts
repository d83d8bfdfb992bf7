// How a stage checks a batch that was signed together (docs/design-notes.md "What is verified when"). The bytes of most items are compared with
// those made again from their batch and parts, by the functions of signing: a mistake in these functions would pass. One item of each batch,
// chosen at random, is therefore checked whole, from its text alone, as a reader would. If it fails, nothing is executed any more.
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import type { EvidenceFaults } from '../../src/core/threads/evidence-fault.ts'
import type { Fresh } from '../fresh.ts'
import { Finished, runStage, stillGoing, type InFlight } from '../in-flight.ts'

interface Checked extends InFlight {
  readonly transaction: { readonly businessTransactionId: string }
}

interface BatchCheck<In, Out> {
  /** Whether comparing its bytes is enough for it. An item that is not plain is checked whole. */
  readonly isPlain: (item: In) => boolean
  readonly whole: (item: In) => Out | Failure
  readonly holds: (checked: Out) => boolean
  /** The items whose bytes equal those made again from their batch and parts, provided that `sample` was checked whole. */
  readonly unaltered: (items: readonly In[], sample: In) => ReadonlySet<In>
  /** Checks everything that comparing bytes leaves open. */
  readonly rest: (item: In) => Out | Failure
}

/** @param thrown the end of an item whose check throws */
export function checkSampled<In extends Checked, Out extends InFlight>(
  items: readonly (In | Finished)[],
  { isPlain, whole, holds, unaltered, rest }: BatchCheck<In, Out>,
  { pick, evidenceFaults }: Pick<Fresh, 'pick'> & { readonly evidenceFaults: EvidenceFaults },
  thrown: (cause: unknown) => Failure = failures.internal,
): (Out | Finished)[] {
  const inFlight = stillGoing(items)
  const plain = inFlight.filter(isPlain)
  if (plain.length === 0) return runStage(items, whole, thrown)
  const sample = plain[pick(plain.length)] as In
  const [sampled] = runStage([sample], whole, thrown) as [Out | Finished]
  if (sampled instanceof Finished || !holds(sampled)) {
    evidenceFaults.raise({ kind: 'not verified' }, sample.transaction.businessTransactionId)
    // No other item of the batch is taken on trust.
    return runStage(items, whole, thrown)
  }
  const comparable = plain.length > 1 ? unaltered(inFlight, sample) : new Set<In>()
  return runStage<In, Out>(
    items,
    (item) => {
      if (item === sample) return sampled
      return isPlain(item) && comparable.has(item) ? rest(item) : whole(item)
    },
    thrown,
  )
}
