// A receiver of connector releases: the client's receiver kit does the rest, the effect is yours.
//   npx node examples/external-receiver/receiver.ts --service https://countersign.example --port 8080 --journal mine/receiver.journal
import { parseArgs } from 'node:util'
import { fetchServiceKeys, openJournal, receive } from '../../clients/typescript/src/receiver/index.ts'

// A sentence in place of a stack trace.
process.once('uncaughtException', (error) => {
  // `fetch` puts its reason into `cause`.
  console.error(`receiver: ${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`)
  process.exit(1)
})
const { values } = parseArgs({
  options: {
    service: { type: 'string', default: 'http://127.0.0.1:3000' },
    port: { type: 'string', default: '8080' },
    journal: { type: 'string', default: 'receiver.journal' },
    capability: { type: 'string', default: 'vendor:pay' },
    origin: { type: 'string' },
  },
})
let effects = 0
const receiver = receive({
  keys: await fetchServiceKeys(values.service),
  capabilities: [values.capability],
  journal: openJournal(values.journal),
  audience: values.origin,
  // Put the effect here.
  act({ target, parameters }) {
    effects++
    console.log(`effect ${effects}: ${target} ${JSON.stringify(parameters)}`)
    return { effects }
  },
})
const { origin } = await receiver.listen(Number(values.port))
console.log(`listening on ${origin} for ${values.capability}`)
