// A service on a database of its own, shared by the tests of a file or of a `describe`.
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect } from 'vitest'
import { createDatabase, type TestDatabase } from './database.ts'
import { aPolicyFolder } from './policies.ts'
import { startService, type ServiceOptions, type TestService } from './service.ts'

/**
 * Starts both before the first test. After the last one the service must stop cleanly.
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
  let database: TestDatabase
  let service: TestService
  let policyDir: string | undefined
  beforeAll(async () => {
    if (addPolicies !== undefined) addPolicies((policyDir = aPolicyFolder()))
    const env = { ...options.env, ...(policyDir !== undefined && { POLICY_DIR: policyDir }) }
    database = await createDatabase()
    service = await startService({ ...options, env, databaseUrl: database.url })
    take({ database, service })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    await database.drop()
    if (policyDir !== undefined) rmSync(policyDir, { recursive: true })
  })
}
