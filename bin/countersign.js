#!/usr/bin/env node
// The countersign command for whatever Node is on PATH. Plain JavaScript, so that one too old for the rest can still say so.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 24 || (major === 24 && minor >= 6)) {
  await import('../src/cli.ts')
} else {
  console.error(`countersign needs Node 24.6 or newer (this is ${process.version}).`)
  // Not 1, which `verify` ends with for evidence that is not valid.
  process.exitCode = 2
}
