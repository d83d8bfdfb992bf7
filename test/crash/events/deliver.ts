// Delivers the events of a database to its one endpoint, as an instance does, until there are no more or the endpoint is disabled.
import { readSigningKeys } from '../../../src/core/signing/keys.ts'
import { startLogEntries } from '../../../src/store/tables/log-queue.ts'
import type { SignedEvents } from '../../../src/core/operations/sign-events.ts'
import type { Submission } from '../../../src/server/dispatch/dispatcher.ts'
import { startDelivering } from '../../../src/server/jobs/events.ts'
import { answerOwn } from '../../../workers/answer-each.ts'
import { signEvents } from '../../../workers/events/sign.ts'
import { recordAuditEvents } from '../../../workers/evidence/audit.ts'
import { patientPool } from '../../patient-pool.ts'
import { aRequest } from '../request.ts'

export interface Work {
  readonly url: string
  readonly keyDir: string
}

export async function deliverEvents({ url, keyDir }: Work): Promise<void> {
  const pool = patientPool(url, 4)
  const tools = { pool, key: readSigningKeys(keyDir, ['ed25519']).ed25519, startLogEntries }
  const ended = Promise.withResolvers<void>()
  /** Works as a worker thread would. */
  async function submit({ operation, body }: Submission) {
    const batch = [{ request: aRequest(body) }]
    if (operation === 'record-audit-event') {
      const [stored] = await recordAuditEvents(batch, tools)
      ended.resolve()
      return { status: stored?.answer.status ?? 0, body: stored?.answer.body ?? '' }
    }
    const [signed] = await answerOwn<'sign-events'>((given) => signEvents(given, tools))(batch)
    const { status = 0, body: text = '' } = signed?.answer ?? {}
    if ((JSON.parse(text) as SignedEvents | null)?.events.length === 0) ended.resolve()
    return { status, body: Buffer.from(text) }
  }
  const warn = (line: object, message: string) => {
    if (!JSON.stringify(line).includes('answered 410'))
      ended.reject(new Error(`${message}: ${JSON.stringify(line)}`))
  }
  const delivering = startDelivering({ sql: pool, submit, log: { warn } })
  try {
    await ended.promise
  } finally {
    await delivering.close()
    await pool.end()
  }
}
