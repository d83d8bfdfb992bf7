// ended_sessions: sessions of the console that ended before their time. An otherwise valid token is refused when its session is here, or the
// passkey that opened it.
import type { Sql } from '../postgres/sql.ts'

/** @param session.expiresAt ISO 8601: when its token expires */
export async function endSession(
  sql: Sql,
  { sessionId, expiresAt }: { readonly sessionId: string; readonly expiresAt: string },
): Promise<void> {
  await sql.query({
    text: `
      WITH over AS (DELETE FROM ended_sessions WHERE expires_at < now() - interval '1 hour')
      INSERT INTO ended_sessions (session_id, expires_at) VALUES ($1::uuid, $2::timestamptz)
      ON CONFLICT DO NOTHING`,
    values: [sessionId, expiresAt],
  })
}

/** Reads the ended sessions whose tokens would still be valid. */
export async function readEndedSessions(sql: Sql): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'ended_sessions_read',
    text: `SELECT session_id AS id FROM ended_sessions WHERE expires_at > now()`,
  })
  return new Set(rows.map(({ id }) => id))
}
