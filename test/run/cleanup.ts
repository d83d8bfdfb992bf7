// A test that failed may have left things running or mounted, which are removed after its file. A worker process runs many files and imports a module
// once, so a helper cannot register a hook of its own: it registers here, and each file's hooks (hooks.ts) call what was registered.
import { onTestFailed, TestRunner } from 'vitest'

type Cleanup = () => unknown

const afterEachTest: Cleanup[] = []
const afterEachFile: Cleanup[] = []

/** Called once by a helper's module. */
export function cleanUpAfterEachTest(cleanup: Cleanup): void {
  afterEachTest.push(cleanup)
}

/** Called once by a helper's module. */
export function cleanUpAfterEachFile(cleanup: Cleanup): void {
  afterEachFile.push(cleanup)
}

/**
 * Called by a helper for what it has begun: where the test that runs fails, it ends with it, also before the test is tried again. What hooks of a
 * file have begun is of all its tests, and ends after the file.
 */
export function cleanUpWhereTestFails(cleanup: () => unknown): void {
  if (TestRunner.getCurrentTest() !== undefined) onTestFailed(async () => void (await cleanup()))
}

export async function cleanUpAfterTest(): Promise<void> {
  for (const cleanup of afterEachTest) await cleanup()
}

export async function cleanUpAfterFile(): Promise<void> {
  for (const cleanup of afterEachFile) await cleanup()
}
