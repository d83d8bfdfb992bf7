// The execution authorization: the signed permission that releases one execution. Its row is that of the intent, and its text stands with
// the transaction.
import { executionStreams, ownerOfExecution } from './execution-streams.ts'
import type { ArtifactKind } from './kind.ts'

export const authorization = {
  name: 'execution-authorization',
  times: ['authorizedAt'],
  logged: { kind: 'authorization', counted: (_, of) => ({ streams: executionStreams(of) }) },
  stored: {
    table: 'execution_intents',
    id: 'businessTransactionId',
    at: 'createdAt',
    owner: ownerOfExecution,
    joined: true,
  },
} as const satisfies ArtifactKind
