// sandbox:echo: the connector without outside effect, for demos, drills and load tests (decisions §8).
import { setTimeout as delay } from 'node:timers/promises'
import type { Connector } from './connector.ts'

export const sandboxEcho: Connector = {
  connectorId: 'sandbox-echo',
  connectorVersion: '1.0.0',
  endpoint: 'local:sandbox-echo',
  actions: ['sandbox:echo'],
  timeoutMs: 10_000,
  async call({ parameters, parametersText, signal }) {
    const { delayMs, hang, fail } = parameters
    if (hang === true) return new Promise<never>(() => undefined)
    // A timer of Node's that is set beyond 2^31 - 1 ms fires at once.
    if (typeof delayMs === 'number' && delayMs > 0)
      await delay(Math.min(delayMs, 2 ** 31 - 1), undefined, { signal })
    if (fail === true) return { kind: 'failed', reason: 'the sandbox was asked to fail' }
    return { kind: 'completed', result: { echo: parametersText } }
  },
}
