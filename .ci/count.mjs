// Sums the results that the test runner wrote into `N passed, N failed`: whatever else failed counts as one.
//   usage  count.mjs <exit status so far> [results.json ...]
import { readFileSync } from 'node:fs'

const [status, ...files] = process.argv.slice(2)
let passed = 0
let failed = 0
let skipped = 0
for (const file of files) {
  const results = JSON.parse(readFileSync(file, 'utf8'))
  passed += results.numPassedTests
  failed += results.numFailedTests
  skipped += results.numPendingTests
}
if (failed === 0 && (status !== '0' || passed === 0)) failed = 1
console.log(`${skipped} skipped`)
console.log(`${passed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1
