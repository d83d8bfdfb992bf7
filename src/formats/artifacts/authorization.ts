// The execution authorization: the signed permission that releases one execution. It is stored in the row of its transaction.
import { executionStreams, ownerOfExecution } from './execution-streams.ts'
import type { ArtifactKind } from './kind.ts'

export const authorization = {
  name: 'execution-authorization',
  times: ['authorizedAt'],
  logged: { kind: 'authorization', counted: (_, of) => ({ streams: executionStreams(of) }) },
  stored: {
    table: 'business_transactions',
    id: 'businessTransactionId',
    at: 'createdAt',
    owner: { column: ownerOfExecution.column },
    joined: true,
  },
} as const satisfies ArtifactKind
