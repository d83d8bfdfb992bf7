// A service on a database of its own, shared by the tests of a file or of a `describe`.
import { afterAll, beforeAll, expect } from 'vitest'
import { createDatabase, type TestDatabase } from './database.ts'
import { startService, type ServiceOptions, type TestService } from './service.ts'

/**
 * Starts both before the first test. After the last one the service must stop cleanly.
 * @param take gets them once they have started
 */
export function withService(
  take: (made: { readonly database: TestDatabase; readonly service: TestService }) => void,
  options: Omit<ServiceOptions, 'databaseUrl'> = {},
): void {
  let database: TestDatabase
  let service: TestService
  beforeAll(async () => {
    database = await createDatabase()
    service = await startService({ ...options, databaseUrl: database.url })
    take({ database, service })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    await database.drop()
  })
}
