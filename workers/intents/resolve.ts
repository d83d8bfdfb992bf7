// POST /execution-intents/{id}/resolve (decisions §8): a human says how an execution ended that nothing else tells of.
import { isObject, parseBody, requiredField } from '../../src/body.ts'
import { Failure, failures } from '../../src/errors.ts'
import { resolutions, type Resolution } from '../../src/intents/states.ts'
import type { Thread } from '../execute/index.ts'
import { forward, type Answered, type Travelling } from '../execute/road.ts'
import { closeInTurn, closeIntent, type ClosingRoute } from './close.ts'
import { proofOf } from './proof.ts'

const ROUTE: ClosingRoute = { type: 'intent.resolved', route: 'POST /execution-intents/{id}/resolve' }
const NOTE_MAX = 1_000

interface Asked extends Travelling {
  readonly resolution: Resolution
  readonly note: string
}

export async function resolveIntents(batch: readonly Travelling[], thread: Thread): Promise<Answered[]> {
  return closeInTurn(forward(batch, read), ({ request, resolution, note }) =>
    closeIntent(request, thread, {
      route: ROUTE,
      async endOf(id, { nonce }, sql) {
        // No word stands against a stored record that holds, be it the same word.
        const proof = await proofOf({ id, nonce }, { sql, crypto: thread.crypto })
        if (proof.kind === 'proven')
          return failures.conflict('A stored Execution Trust Record proves the outcome: finalize the intent.')
        return { state: 'RESOLVED', resolution, note }
      },
    }),
  )
}

function read({ request }: Travelling): Asked | Failure {
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  const resolutionField = requiredField(body, 'resolution')
  if (resolutionField instanceof Failure) return resolutionField
  const noteField = requiredField(body, 'note')
  if (noteField instanceof Failure) return noteField
  const unknown = isObject(body) && Object.keys(body).find((name) => name !== 'resolution' && name !== 'note')
  if (typeof unknown === 'string') return failures.invalidField(`${unknown} is not a member of this body.`)
  const resolution = resolutions.find((known) => known === resolutionField.value)
  if (resolution === undefined)
    return failures.invalidField(`resolution must be one of ${resolutions.join(', ')}.`)
  const { value: note } = noteField
  if (typeof note !== 'string' || note.length > NOTE_MAX)
    return failures.invalidField(`note must be a string of 1 to ${NOTE_MAX} characters.`)
  return { request, resolution, note }
}
