// Registers or removes a login passkey, in one commit with its audit event: workers/console/login-passkeys.ts.
import type { LoginPasskey } from '../../store/tables/login-passkeys.ts'
import { COMPUTED, ownWork } from './operation.ts'

export type LoginPasskeyAct =
  | { readonly act: 'register'; readonly passkey: Omit<LoginPasskey, 'registeredAt' | 'usedAt'> }
  | {
      readonly act: 'remove'
      readonly loginPasskeyId: string
      /** The human to whom the passkey belongs. */
      readonly callerId: string
      /** ISO 8601: end of the last session that the passkey can have opened. */
      readonly sessionsEndAt: string
    }

/** False: nothing was changed, because the passkey is already registered, exceeds the maximum, or does not exist. */
export const keepLoginPasskey = ownWork<LoginPasskeyAct, boolean>({ lane: 'administration', ...COMPUTED })
