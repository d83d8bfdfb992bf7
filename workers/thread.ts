// One pipeline thread: boots once, then takes batches. Holds the private keys and its own database connections.
import { parentPort } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina'
import { readableOwner } from '../src/config.ts'
import { failures, type Failure } from '../src/errors.ts'
import { readSigningKeys } from '../src/signing/keys.ts'
import { publishedKeys } from '../src/signing/published.ts'
import { sha256Hex } from '../src/signing/sha256.ts'
import { verifySignature, type Signature } from '../src/signing/signature.ts'
import { isUnavailable, openPool } from '../src/tables/sql.ts'
import { openConnectors } from './connectors/index.ts'
import { recordAuditEvents } from './evidence/audit.ts'
import { verifyAuditEvents, verifyRefusals } from './evidence/check.ts'
import { receipt } from './evidence/receipt.ts'
import { replay } from './evidence/replay.ts'
import { verify } from './evidence/verify.ts'
import { execute, finish, type Thread } from './execute/index.ts'
import { openLateLane } from './execute/late.ts'
import { Answered, type Caller, type Travelling } from './execute/road.ts'
import { openPolicies } from './policies.ts'
import { packReplies, unpackTask, type Boot, type Operation, type Task } from './protocol.ts'

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

  const roads: Readonly<Record<Operation, Road>> = {
    async execute(batch) {
      const { answered, later } = await execute(batch, thread)
      late.add(later)
      return answered
    },
    verify: (batch) => verify(batch, thread),
    receipt: (batch) => receipt(batch, thread),
    replay: (batch) => replay(batch, thread),
    'verify-refusal': (batch) => verifyRefusals(batch, thread),
    'verify-audit-event': (batch) => verifyAuditEvents(batch, thread),
    'record-audit-event': (batch) => recordAuditEvents(batch, thread),
  }

  return async function run(task: Task) {
    const batch = unpackTask(task).map(({ ticket, caller, body }): Travelling => ({
      request: { ticket, caller: scopes[caller] ?? ANONYMOUS, body },
    }))
    return moved(packReplies(await answers(task.operation, batch), batch.length))
  }

  async function answers(operation: Operation, batch: readonly Travelling[]): Promise<Answered[]> {
    try {
      return await roads[operation](batch)
    } catch (error) {
      // The one catch. What gets here from an execution is a mistake of ours, and how far the batch had come is not known.
      return batch.map(({ request }) => new Answered(request, failureOf(operation, error)))
    }
  }
}

type Road = (batch: readonly Travelling[]) => Answered[] | Promise<Answered[]>

function failureOf(operation: Operation, error: unknown): Failure {
  if (operation === 'execute') return failures.outcomeUnknown(error)
  return isUnavailable(error) ? failures.databaseUnavailable(error) : failures.internal(error)
}

const ANONYMOUS: Caller = { callerId: 'anonymous', reads: null, scope: 'unchecked' }

function callerScope(caller: Boot['callers'][number]): Caller {
  return {
    callerId: caller.callerId,
    reads: readableOwner(caller),
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
