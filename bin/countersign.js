#!/usr/bin/env node
// The countersign command for whatever Node is on PATH.
import './no-debugger.js'
import './compile-cache.js'
import { nodeIsNewEnough } from './node-version.js'

if (nodeIsNewEnough()) {
  await import('../src/cli/index.ts')
} else {
  // Not 1, which `verify` ends with for evidence that is not valid.
  process.exitCode = 2
}
