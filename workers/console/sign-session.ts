// Signs the tokens of console sessions. The front end decides who gets one; the private key stays on the worker threads.
import { signSession, type SessionPayload } from '../../src/core/console-session.ts'
import type { ThreadContext } from '../context.ts'
import { finishWithText, runStage, type Finished, type InFlight } from '../in-flight.ts'

/** @param batch bodies made by the front end: a SessionPayload each, as JSON */
export function signSessions(batch: readonly InFlight[], { key }: Pick<ThreadContext, 'key'>): Finished[] {
  return finishWithText(
    runStage(batch, ({ request }) => {
      const payload = JSON.parse(Buffer.from(request.body).toString()) as SessionPayload
      return { request, text: JSON.stringify({ token: signSession(payload, key) }) }
    }),
  )
}
