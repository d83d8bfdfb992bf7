// Turns a release of the service into one call of the upstream tool, if the tool has not changed since the decision.
import { Refused, type ReceiverConfig } from '../../clients/typescript/src/receiver/index.ts'
import type { Json } from '../formats/json/canonical.ts'
import { textIn } from './content.ts'
import type { Lock } from './lock.ts'
import { toolHash } from './tools.ts'
import { ArgumentsRefused, NotTaken, type CallToolResult, type Upstream } from './upstream.ts'

/** How many complete results are kept until they are taken: evidence holds 60 KiB of a result, and the agent wants all of it. */
const RESULTS_MAX = 100

export interface Results {
  /** Returns and removes the result of a transaction that was just carried out here. */
  readonly take: (businessTransactionId: string) => CallToolResult | undefined
  readonly keep: (businessTransactionId: string, result: CallToolResult) => void
}

export function openResults(): Results {
  const results = new Map<string, CallToolResult>()
  return {
    take(id) {
      const result = results.get(id)
      results.delete(id)
      return result
    },
    keep(id, result) {
      results.set(id, result)
      const [oldest] = results.keys()
      if (results.size > RESULTS_MAX && oldest !== undefined) results.delete(oldest)
    },
  }
}

/** The effect of a receiver whose releases call the tools of an upstream server. */
export function toolEffect(
  upstream: Upstream,
  { lock, results }: { readonly lock: Lock; readonly results: Results },
): Pick<ReceiverConfig, 'act'> {
  return {
    async act({ target, parameters, businessTransactionId }) {
      // The pin of this gateway may be older or newer than the policy that decided.
      if (lock.tools[target]?.toolHash !== parameters['toolHash'])
        throw new Refused(
          `The tool ${target} is not pinned in this gateway with the hash that was decided on.`,
        )
      const listed = await upstream.list().catch((error: unknown) => {
        throw new Refused(`The server behind the gateway cannot be reached: ${(error as Error).message}`)
      })
      const tool = listed.tools.find(({ name }) => name === target)
      if (tool === undefined || toolHash(tool) !== parameters['toolHash'])
        throw new Refused(`The tool ${target} is not the one that was decided on.`)
      const args = parameters['arguments'] as { readonly [name: string]: Json }
      const errorsAreFinal = lock.tools[target]?.errorsAreFinal === true
      const result = await listed.call(target, args).catch((error: unknown) => {
        const didNothing = error instanceof NotTaken || (error instanceof ArgumentsRefused && errorsAreFinal)
        throw didNothing ? new Refused(`The server refused: ${error.message}`) : error
      })
      results.keep(businessTransactionId, result)
      if (result.isError !== true) return result
      const said = textIn(result)
      if (errorsAreFinal) throw new Refused(said)
      throw new Error(`${target} answered with an error, which may have come after its effect: ${said}`)
    },
  }
}
