// Starts the service: what `npm start`, the image and the systemd unit run.
import './no-debugger.js'
import './compile-cache.js'
import { nodeIsNewEnough } from './node-version.js'

if (nodeIsNewEnough()) {
  const { main } = await import('../src/server/main.ts')
  process.exit(await main(process.env))
} else {
  process.exitCode = 1
}
