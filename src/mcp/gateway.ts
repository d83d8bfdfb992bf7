// A running MCP gateway between a client and the upstream server: it calls the service, and receives the releases of its own calls.
import { join } from 'node:path'
import { createCountersign } from '../../clients/typescript/src/index.ts'
import { fetchServiceKeys, openJournal, receive } from '../../clients/typescript/src/receiver/index.ts'
import { openArgumentsCheck } from './arguments.ts'
import { makeCalls, type Calls } from './calls.ts'
import { openCatalogue, type Catalogue } from './catalogue.ts'
import type { GatewayFile } from './config.ts'
import { consoleOf } from './console.ts'
import { openResults, toolEffect } from './effect.ts'
import { openCallsIn } from './open-calls.ts'
import { ownToolNames } from './own-tools.ts'
import type { Lock } from './lock.ts'
import { lookUp } from './read-back.ts'
import { openUpstream } from './upstream.ts'

export const TIMEOUT_SECONDS = 25
/** The maximum number of attempts at a busy service: a model waits for the answer. */
const ATTEMPTS_MAX = 3
/** Longer than the service waits for this gateway's answer to a release. */
const ATTEMPT_MS = 45_000

export interface Service {
  readonly url: string
  /** The key of an agent that may submit `mcp:<alias>`. */
  readonly key: string
}

export interface Gateway {
  readonly catalogue: Catalogue
  readonly calls: Calls
  /** @throws BadArguments */
  readonly checkArguments: ReturnType<typeof openArgumentsCheck>
  /** The published keys of the service and of its approvers. */
  readonly keySets: () => Promise<readonly unknown[]>
  readonly url: string
  /** By caller, for those that called last: the id of its last call that has a record. */
  readonly recorded: Map<string, string>
  /** By caller: how many streams listen to its tasks now. */
  readonly listeners: Map<string, number>
  /** Resolves when released calls are carried out and their outcomes are stored. */
  readonly close: () => Promise<void>
}

/**
 * Receives releases and opens the parts that calls need. The upstream server is started on first use.
 * @param given.say takes sentences for the operator
 * @throws Error where the service does not answer, or another process has the journal or the port
 */
export async function openGateway(
  { folder, alias, audience, port, tools, upstream: behind, timeoutSeconds = TIMEOUT_SECONDS }: GatewayFile,
  given: {
    readonly lock: Lock
    readonly service: Service
    /** The version of this program. */
    readonly version: string
    /** As for `openUpstream`. */
    readonly label: string | undefined
    readonly say: (sentence: string) => void
  },
): Promise<Gateway> {
  const { lock, service, version, label, say } = given
  const keys = await fetchServiceKeys(service.url, { onWarning: say })
  const consoleUrl = await consoleOf(service.url)
  const journal = openJournal(join(folder, 'journal'))
  const upstream = openUpstream(behind, { timeoutMs: timeoutSeconds * 1000, version, label })
  const results = openResults()
  const receiver = receive({
    keys,
    capabilities: [`mcp:${alias}`],
    journal,
    audience,
    ...toolEffect(upstream, { lock, results }),
    readBack: (release) => lookUp(release, { upstream, lock, tools }),
    onError: (error, release) =>
      say(
        `${release?.businessTransactionId ?? 'A request'}: ${error instanceof Error ? error.message : String(error)}. The outcome is unknown.`,
      ),
  })
  const listening = await receiver.listen(port).catch((error: unknown) => {
    journal.close()
    throw error
  })
  const options = {
    baseUrl: service.url,
    apiKey: service.key,
    maxAttempts: ATTEMPTS_MAX,
    timeoutMs: ATTEMPT_MS,
  }
  const client = createCountersign(options)
  const open = openCallsIn(join(folder, 'open-calls.ndjson'))
  const calls = makeCalls(client, { options, alias, lock, open, results, consoleUrl })
  say(`releases for mcp:${alias} arrive at ${listening.origin}.`)
  return {
    catalogue: openCatalogue(upstream, { lock, reserved: ownToolNames, onHidden: say }),
    calls,
    checkArguments: openArgumentsCheck(lock),
    keySets: () => Promise.all([client.keySet(), client.approverKeySet()]),
    url: service.url,
    recorded: new Map(),
    listeners: new Map(),
    async close() {
      // First, so that calls that are approved from now on are left to the next process.
      calls.close()
      await listening.close()
      await upstream.close()
      open.close()
      // Lets another process begin.
      journal.close()
    },
  }
}
