// A test that failed may have left things running or mounted, which are removed after its file. A worker process runs many files and imports a module
// once, so a helper cannot register a hook of its own: it registers here, and each file's hooks (hooks.ts) call what was registered.

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

export async function cleanUpAfterTest(): Promise<void> {
  for (const cleanup of afterEachTest) await cleanup()
}

export async function cleanUpAfterFile(): Promise<void> {
  for (const cleanup of afterEachFile) await cleanup()
}
