// A database of its own and the services on it, shared by the tests of a file or of a `describe`.
import { afterAll, beforeAll, expect } from 'vitest'
import { createDatabase, type TestDatabase } from './database.ts'
import { aPolicyFolder } from './policies.ts'
import { startService, type ServiceOptions, type TestService } from './service.ts'

interface Made {
  readonly database: TestDatabase
  /** Starts a service on the database, with the keys of the one before it. */
  readonly start: (options?: ServiceOptions) => Promise<TestService>
}

/**
 * Makes a database before the first test, and whatever else `setUp` makes. After the last test every service that it started must stop
 * cleanly, whichever order they were started in.
 */
export function withDatabase(setUp: (made: Made) => unknown): void {
  let database: TestDatabase
  const started: TestService[] = []
  beforeAll(async () => {
    database = await createDatabase()
    await setUp({
      database,
      start: async (options) => {
        const service = await startService({ databaseUrl: database.url, ...options })
        started.push(service)
        return service
      },
    })
  })
  afterAll(async () => {
    for (const service of started.toReversed()) expect(await service.stop()).toBe(0)
    await database.drop()
  })
}

/**
 * A database and one service on it.
 * @param take gets them once they have started
 * @param options.addPolicies adds to a POLICY_DIR that has sandbox-echo alone; without it the service has the shipped policies
 */
export function withService(
  take: (made: { readonly database: TestDatabase; readonly service: TestService }) => void,
  {
    addPolicies,
    ...options
  }: Omit<ServiceOptions, 'databaseUrl'> & { readonly addPolicies?: (folder: string) => void } = {},
): void {
  withDatabase(async ({ database, start }) => {
    const policyDir = addPolicies && aPolicyFolder()
    if (policyDir !== undefined) addPolicies?.(policyDir)
    const env = { ...options.env, ...(policyDir !== undefined && { POLICY_DIR: policyDir }) }
    take({ database, service: await start({ ...options, env }) })
  })
}
