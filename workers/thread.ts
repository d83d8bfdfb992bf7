// One pipeline thread: boots once, then takes batches. Holds the private keys and its own database connections.
import { parentPort } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina'
import { failures } from '../src/errors.ts'
import { readSigningKeys } from '../src/signing/keys.ts'
import { publishedKeys } from '../src/signing/published.ts'
import { sha256Hex } from '../src/signing/sha256.ts'
import { verifySignature, type Signature } from '../src/signing/signature.ts'
import { openPool } from '../src/tables/sql.ts'
import { openConnectors } from './connectors/index.ts'
import { execute, finish, type Thread } from './execute/index.ts'
import { openLateLane } from './execute/late.ts'
import { Answered, type Caller, type Travelling } from './execute/road.ts'
import { openPolicies } from './policies.ts'
import { packReplies, unpackTask, type Boot, type Task } from './protocol.ts'

/** A connection for each batch in flight, one for the late lane. */
const CONNECTIONS_MAX = 4

function boot({ config, database, callers, policies }: Boot) {
  const { signingKeyDir } = config
  const pool = openPool(database, CONNECTIONS_MAX)
  const signing = readSigningKeys(signingKeyDir, config.receiptAlgorithms)
  // A file that cannot be read is reported by the door; here its key is unknown, and nothing verifies by it.
  const findKey = publishedKeys(signingKeyDir, { onError: () => undefined }).get
  const thread: Thread = {
    pool,
    policies: openPolicies(policies),
    connectors: openConnectors(),
    signingKeys: signing.receipt,
    key: signing.ed25519,
    findKey,
    crypto: {
      sha256Hex,
      verifySignature: (artifact, canonicalText, signature) => {
        const key = findKey(signature.keyId)
        return key !== undefined && verifySignature(artifact, canonicalText, signature as Signature, key)
      },
    },
  }
  const scopes = callers.map(callerScope)
  const late = openLateLane(
    (performed) => finish(performed, thread),
    (answered) => {
      const replies = packReplies(answered, answered.length)
      parentPort?.postMessage(replies, [replies.bodies.buffer])
    },
  )

  return async function run(task: Task) {
    const batch = unpackTask(task).map(({ ticket, caller, body }): Travelling => ({
      request: { ticket, caller: scopes[caller] ?? ANONYMOUS, body },
    }))
    return moved(packReplies(await answers(batch), batch.length))
  }

  async function answers(batch: readonly Travelling[]): Promise<Answered[]> {
    try {
      const { answered, later } = await execute(batch, thread)
      late.add(later)
      return answered
    } catch (error) {
      // The one catch. What gets here is a mistake of ours, and how far the batch had come is not known.
      return batch.map(({ request }) => new Answered(request, failures.outcomeUnknown(error)))
    }
  }
}

const ANONYMOUS: Caller = { callerId: 'anonymous', scope: 'unchecked' }

function callerScope(caller: Boot['callers'][number]): Caller {
  return {
    callerId: caller.callerId,
    scope: {
      principalIds: new Set(caller.allowedPrincipalIds),
      capabilities: caller.unrestrictedCapabilities ? 'all' : new Set(caller.allowedCapabilities),
    },
  }
}

/** A task's result that goes over by transfer of its buffer. */
function moved(replies: ReturnType<typeof packReplies>): unknown {
  return move({ [transferableSymbol]: [replies.bodies.buffer], [valueSymbol]: replies })
}

export default boot(workerData as Boot)
