// Signs the token of a console session. The front end decides who gets a token; the private key stays on the worker threads.
import type { SessionPayload } from '../callers/console-session.ts'
import { COMPUTED, ownWork } from './operation.ts'

export interface SignedSession {
  readonly token: string
}

export const signSession = ownWork<SessionPayload, SignedSession>({ lane: 'administration', ...COMPUTED })
