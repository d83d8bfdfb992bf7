// A fresh service of the bench's own as what is measured, with a connection to its database.
import type { Subject } from './scenario.ts'
import { connect, startService, type ServiceOptions } from './service.ts'
import type { TransactionOptions } from './transaction.ts'

/** A subject whose processes and database are known. */
export type OwnSubject = Subject & Required<Pick<Subject, 'own'>>

/** @param stack takes what has to be undone: service, database, connection */
export async function startSubject(
  options: ServiceOptions,
  transaction: TransactionOptions,
  stack: AsyncDisposableStack,
): Promise<OwnSubject> {
  const service = await startService(options, stack)
  const database = await connect(service.databaseUrl)
  stack.defer(() => database.end())
  const { url, key } = service
  const senders = [{ key, stored: [] }]
  return { url, key, senders, slowsDown: false, transaction, own: { service, database } }
}
