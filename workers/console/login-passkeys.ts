// A login passkey is added and removed in one commit with its audit event, so that a row that somebody wrote into the database has no event.
import { registrationHash } from '../../src/core/callers/login-passkey.ts'
import type { LoginPasskeyAct } from '../../src/core/operations/keep-login-passkey.ts'
import { endSession } from '../../src/store/tables/ended-sessions.ts'
import { registerLoginPasskey, removeLoginPasskey } from '../../src/store/tables/login-passkeys.ts'
import { inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording, type Done } from '../evidence/recording.ts'

/** @returns whether anything changed */
export function keepLoginPasskey(
  given: LoginPasskeyAct,
  thread: Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries'>,
): Promise<boolean> {
  return inTransaction(thread.pool, async (sql) => {
    const done = given.act === 'register' ? await register(sql, given) : await remove(sql, given)
    if (done === undefined) return false
    const recording = startRecording(thread)
    recording.audit(done)
    await sql.run(recording.statements())
    return true
  })
}

async function register(
  sql: Transaction,
  { passkey }: LoginPasskeyAct & { act: 'register' },
): Promise<Done | undefined> {
  if (!(await registerLoginPasskey(sql, passkey))) return undefined
  const { callerId, loginPasskeyId, name } = passkey
  return {
    type: 'login_passkey.registered',
    route: 'POST /console/data/login-passkeys',
    by: callerId,
    reason: 'A passkey to log in to the console was registered.',
    detail: {
      callerId,
      loginPasskey: name,
      loginPasskeyId,
      registrationHash: registrationHash(passkey),
    },
  }
}

/** No session outlives a removed passkey. */
async function remove(
  sql: Transaction,
  { loginPasskeyId, callerId, sessionsEndAt }: LoginPasskeyAct & { act: 'remove' },
): Promise<Done | undefined> {
  const name = await removeLoginPasskey(sql, { loginPasskeyId, callerId })
  if (name === undefined) return undefined
  await endSession(sql, { sessionId: loginPasskeyId, expiresAt: sessionsEndAt })
  return {
    type: 'login_passkey.removed',
    route: 'POST /console/data/login-passkeys/{loginPasskeyId}/remove',
    by: callerId,
    reason: 'A passkey to log in to the console was removed.',
    detail: { callerId, loginPasskey: name, loginPasskeyId },
  }
}
