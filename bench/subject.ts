// A fresh service of the bench's own as the subject of a measurement, with a connection to its database.
import type { Subject } from './scenario.ts'
import { BENCH, connect, startService, type ServiceOptions } from './service.ts'
import { aTokenOfIssuer } from './tokens.ts'
import type { TransactionOptions } from './transaction.ts'

/** A subject whose processes and database are known. */
export type OwnSubject = Subject & Required<Pick<Subject, 'own'>>

/**
 * @param options.byToken whether it accepts the access token of another caller too
 * @param stack collects the clean-up steps: service, database, connection
 */
export async function startSubject(
  { byToken = false, ...options }: ServiceOptions & { readonly byToken?: boolean },
  transaction: TransactionOptions,
  stack: AsyncDisposableStack,
): Promise<OwnSubject> {
  const issued = byToken ? await aTokenOfIssuer(BENCH) : undefined
  const service = await startService({ ...options, env: { ...options.env, ...issued?.env } }, stack)
  const database = await connect(service.databaseUrl)
  stack.defer(() => database.end())
  const { url, key } = service
  const senders = [{ key, stored: [] }]
  const token = issued === undefined ? {} : { token: issued.token }
  return { url, key, ...token, senders, slowsDown: false, transaction, own: { service, database } }
}
