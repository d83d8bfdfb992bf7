// POST /execution-intents/{id}/finalize (decisions §8): closes an intent from the stored record that proves how it ended. The record
// and the closed intent are one commit; one stands without the other after a restored backup, or a commit that only part of a
// distributed database has.
import { isObject, parseBody } from '../../src/body.ts'
import { Failure, failures } from '../../src/errors.ts'
import type { Thread } from '../execute/index.ts'
import { forward, type Answered, type Travelling } from '../execute/road.ts'
import { closeInTurn, closeIntent, type ClosingRoute } from './close.ts'
import { proofOf } from './proof.ts'

const ROUTE: ClosingRoute = { type: 'intent.finalized', route: 'POST /execution-intents/{id}/finalize' }

export async function finalizeIntents(batch: readonly Travelling[], thread: Thread): Promise<Answered[]> {
  return closeInTurn(forward(batch, read), ({ request }) =>
    closeIntent(request, thread, {
      route: ROUTE,
      async endOf(id, { nonce }, sql) {
        const proof = await proofOf({ id, nonce }, { sql, crypto: thread.crypto })
        if (proof.kind === 'proven') return proof.end
        return failures.conflict(
          proof.kind === 'none'
            ? 'No Execution Trust Record is stored for this execution intent.'
            : `The stored Execution Trust Record proves nothing: ${proof.problem}.`,
        )
      },
    }),
  )
}

/** A body is not needed; one that is there says nothing. */
function read({ request }: Travelling): Travelling | Failure {
  if (request.body.byteLength === 0) return { request }
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  if (!isObject(body)) return failures.invalidField('the body must be an object.')
  const [unknown] = Object.keys(body)
  return unknown === undefined
    ? { request }
    : failures.invalidField(`${unknown} is not a member of this body.`)
}
