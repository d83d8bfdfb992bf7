// The test test/run/interrupted.test.ts interrupts this: a test file that has started some of everything and never ends.
import { writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { executablePath, launchChromium } from '../browser/chromium.ts'
import { createDatabase } from '../database.ts'
import { startService } from '../service.ts'

test('two services, one of them on a PostgreSQL of its own, and a browser', async () => {
  const { url } = await createDatabase()
  await Promise.all([
    startService({ databaseUrl: url }),
    startService(),
    executablePath === undefined ? undefined : launchChromium(),
  ])
  writeFileSync(process.env['STARTED'] ?? '', '')
  await new Promise(() => undefined)
})
