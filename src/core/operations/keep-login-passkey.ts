// A passkey that logs in is registered or removed, in one commit with its audit event: workers/console/login-passkeys.ts.
import type { LoginPasskey } from '../../store/tables/login-passkeys.ts'
import { COMPUTED, ownWork } from './operation.ts'

export type LoginPasskeyAct =
  | { readonly act: 'register'; readonly passkey: Omit<LoginPasskey, 'registeredAt' | 'usedAt'> }
  | {
      readonly act: 'remove'
      readonly loginPasskeyId: string
      /** Its human. */
      readonly callerId: string
      /** ISO 8601: when the last session that it can have opened is over. */
      readonly sessionsEndAt: string
    }

/** False: nothing was changed, since it is registered already, is one too many, or is not there. */
export const keepLoginPasskey = ownWork<LoginPasskeyAct, boolean>({ lane: 'administration', ...COMPUTED })
