// What is under measurement: a fresh service of the bench's own, or a deployment that somebody else runs.
import { Client } from 'pg'
import { startService, type MeasuredService, type ServiceOptions } from './service.ts'
import type { TransactionOptions } from './transaction.ts'

export interface Subject {
  readonly url: string
  /** Raw API key. */
  readonly key: string
  readonly transaction: TransactionOptions
  /** What a deployment says of its build; undefined where it does not. */
  readonly version: string | undefined
  /** Undefined for a deployment: then nothing is known of its processes and its database. */
  readonly own: { readonly service: MeasuredService; readonly database: Client } | undefined
}

/** in  stack  takes what has to be undone */
export async function freshSubject(
  options: ServiceOptions,
  transaction: TransactionOptions,
  stack: AsyncDisposableStack,
): Promise<Subject> {
  const service = await startService(options, stack)
  const database = new Client({ connectionString: service.databaseUrl })
  await database.connect()
  stack.defer(() => database.end())
  return { url: service.url, key: service.key, transaction, version: undefined, own: { service, database } }
}

/**
 * A deployment, asked who the caller is: a transaction may only name a principal that is the caller's.
 * fails with a sentence where it cannot be reached or does not know the key
 */
export async function deployment(
  { url, key }: { url: string; key: string },
  transaction: TransactionOptions,
): Promise<Subject> {
  const origin = url.replace(/\/+$/, '')
  const subject: Subject = { url: origin, key, transaction, version: undefined, own: undefined }
  const { status, text } = await call(subject, 'GET', '/callers/me').catch((error: unknown) => {
    // What fetch says by itself is that it failed.
    const { cause } = error as Error
    throw new Error(`${origin} cannot be reached: ${String(cause)}`, { cause: error })
  })
  const principal = status === 200 ? answered(text).allowedPrincipalIds?.[0] : undefined
  if (principal === undefined) throw new Error(`GET ${origin}/callers/me answered ${status}: ${text}`)
  const isOwn = transaction.principal !== undefined || transaction.transaction !== undefined
  const known = { ...subject, version: answered((await call(subject, 'GET', '/version')).text).version }
  return isOwn ? known : { ...known, transaction: { ...transaction, principal } }
}

/** Nothing where it is no answer of such a service. */
function answered(text: string): { allowedPrincipalIds?: string[]; version?: string } {
  try {
    return (JSON.parse(text) as ReturnType<typeof answered> | null) ?? {}
  } catch {
    return {}
  }
}

/** One request outside the load. */
export async function call(
  { url, key }: Pick<Subject, 'url' | 'key'>,
  method: 'GET' | 'POST',
  path: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}
