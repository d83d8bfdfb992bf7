// A login passkey must be the one that its human registered, as the audit event says: nobody else can write such an event.
import { registrationHash } from '../../core/callers/login-passkey.ts'
import type { Json } from '../../formats/json/canonical.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import type { AuditType } from '../../formats/schemas/audit-types.ts'
import { checkOf, type SelectedRow } from './check.ts'
import type { Tools } from './tools.ts'

const columns = {
  key: ['text', 'c.login_passkey_id'],
  loginPasskeyId: 'uuid',
  credentialId: 'text',
  callerId: 'text',
  keyHash: 'text',
  name: 'text',
  publicKeyPem: 'text',
  backupEligible: 'boolean',
} as const

const REGISTERED: AuditType = 'login_passkey.registered'
const REMOVED: AuditType = 'login_passkey.removed'

export const loginPasskeys = checkOf({
  table: 'login_passkeys',
  columns,
  async complete(rows, { sql }) {
    const events = await eventsOf(rows, sql)
    return rows.map((row) => ({
      ...row,
      registered: events.some((event) => event['type'] === REGISTERED && isRegistration(event, row)),
      removed: events.some((event) => event['type'] === REMOVED && names(event, row)),
    }))
  },
  rules: [
    ['no audit event says that it was registered as it stands', ({ registered }) => registered],
    ['is there, though its audit event says that it was removed', ({ removed }) => !removed],
  ],
})

type Row = SelectedRow<typeof columns>

/** @returns events that name one of the passkeys, and older events that name none; the check of their table reports one that does not verify */
async function eventsOf(rows: readonly Row[], sql: Tools['sql']): Promise<Members[]> {
  const found = await sql.query<{ body: string }>({
    text: `
      SELECT a.body FROM unnest($1::text[]) AS one (id)
      JOIN audit_events AS a ON a.type = ANY($2::text[])
        AND (strpos(a.body, one.id) > 0 OR strpos(a.body, '"loginPasskeyId":') = 0)`,
    values: [rows.map(({ loginPasskeyId }) => loginPasskeyId), [REGISTERED, REMOVED]],
  })
  return found.rows.flatMap(({ body }) => {
    try {
      const event = JSON.parse(body) as Json
      return isMembers(event) ? [event] : []
    } catch {
      return []
    }
  })
}

const names = (event: Members, { loginPasskeyId }: Row) =>
  isMembers(event['detail']) && event['detail']['loginPasskeyId'] === loginPasskeyId

function isRegistration(event: Members, row: Row): boolean {
  const { detail } = event
  if (!isMembers(detail)) return false
  // An earlier release wrote it: it named the human and the passkey alone.
  if (detail['loginPasskeyId'] === undefined)
    return detail['callerId'] === row.callerId && detail['loginPasskey'] === row.name
  return names(event, row) && detail['registrationHash'] === registrationHash(row)
}
