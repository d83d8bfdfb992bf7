// Executions whose connector is somebody else's program that takes its time (decisions §8): a connection and a signed release each.
import { join } from 'node:path'
import { aHuman, registerConnector } from '../humans.ts'
import { openProgram } from '../program.ts'
import type { ReceiverJob, ReceiverReady } from '../receiver.ts'
import { executions, type Scenario } from '../scenario.ts'

const CAPABILITY = 'bench:external'
const humans = { maker: aHuman('bench-maker'), checker: aHuman('bench-checker') }

const external = (delayMs: number): Scenario => ({
  name: `external-${delayMs}ms`,
  description: `POST /execute, approved, by an external connector that answers after ${delayMs} ms`,
  isLocal: true,
  service: {
    // Versions that are there at a database's first start are approved.
    env: { POLICY_DIR: join(import.meta.dirname, '..', 'policies'), NODE_ENV: '' },
    callers: [humans.maker.entry, humans.checker.entry],
  },
  connections: [1, 64, 256],
  async setUp({ subject, stack }) {
    const receiver = stack.use(openProgram<ReceiverJob, ReceiverReady>('receiver.ts'))
    const { origin } = await receiver.run({ delayMs }, { withinMs: 20_000 })
    await registerConnector(subject.url, humans, {
      capability: CAPABILITY,
      endpointUrl: `${origin}/`,
      policy: 'bench-external',
      allowedParameters: ['amount', 'currency', 'reference'],
    })
    const transaction = { ...subject.transaction, action: CAPABILITY, policy: 'bench-external' }
    return { kinds: [executions(transaction)], stored: [] }
  },
})

export const externalFast = external(5)
export const externalSlow = external(50)
