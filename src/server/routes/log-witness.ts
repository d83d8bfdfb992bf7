// This service as a witness of other logs (C2SP tlog-witness), with WITNESS_LOGS.
import { Type } from 'typebox'
import { failures, type Failure } from '../../core/errors/errors.ts'
import { NOBODY } from '../../core/threads/thread-messages.ts'
import { readWitnessedNote } from '../../store/tables/witnessed-logs.ts'
import example from '../openapi/examples/add-checkpoint.json' with { type: 'json' }
import { openGet, post, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Logs } from '../service.ts'

const mounted: NonNullable<Route['mounted']> = (_params, { witness }) => witness !== undefined

const Lines = Type.String({ description: 'Signature lines of a C2SP signed note.' })
const Size = Type.String({ pattern: '^\\d+\\n$' })
const SignedNote = Type.String({ description: 'A C2SP signed note.' })

export const logWitness = [
  {
    ...post,
    path: '/log/witness/add-checkpoint',
    open: true,
    limit: 'public',
    cost: 'compute',
    // Replaces MAX_BODY_BYTES: 63 hashes, and a checkpoint with some twenty signatures.
    bodyBytesMax: 65_536,
    operationId: 'addCheckpoint',
    tag: 'Log',
    summary: 'Have a checkpoint of another log cosigned',
    description: `For logs of the file \`WITNESS_LOGS\`; without that variable the path is 404 \`Not Found\`. [C2SP tlog-witness](https://c2sp.org/tlog-witness): the
body is \`old <size>\`, the consistency proof, an empty line and the checkpoint. The signature of the log is the authentication. A checkpoint is
cosigned if it extends the newest cosigned checkpoint of its log, and it is stored before the answer.`,
    body: { schema: SignedNote, example: example.request, anyBytes: true },
    answers: {
      200: {
        description: 'Two cosignatures, Ed25519 and ML-DSA-44.',
        schema: Lines,
        example: example.cosignatures,
        contentType: 'text/plain',
      },
      409: {
        description:
          'The old size is not that of the newest checkpoint which was cosigned; the body is that size.',
        schema: Size,
        example: '1\n',
        contentType: 'text/x.tlog.size',
      },
    },
    failures: [
      'pathNotFound',
      'invalidField',
      'logNotWitnessed',
      'checkpointNotSigned',
      'checkpointInconsistent',
    ],
    readsDatabase: true,
    mounted,
    handle: ({ body, client }, { dispatcher }) =>
      dispatcher.submit({ operation: 'add-checkpoint', client, callerIndex: NOBODY, body }),
  },
  {
    ...openGet,
    path: '/log/witness/{originHash}/checkpoint',
    operationId: 'getWitnessedCheckpoint',
    tag: 'Log',
    summary: 'The newest cosigned checkpoint of another log',
    description: 'It carries the verified signatures of its log and the cosignatures of this service.',
    params: {
      originHash: {
        schema: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        description: 'SHA-256 of the origin of the log, in lowercase hex.',
        example: example.originHash,
      },
    },
    answers: {
      200: {
        description: 'The checkpoint.',
        schema: SignedNote,
        example: example.cosigned,
        contentType: 'text/plain',
        cached: true,
      },
    },
    failures: ['pathNotFound', 'notWitnessed'],
    readsDatabase: true,
    mounted,
    handle: witnessedCheckpoint,
  },
] as const satisfies readonly Route[]

async function witnessedCheckpoint(
  { params: { originHash = '' } }: RouteRequest,
  { pool }: Logs,
): Promise<Answer | Failure> {
  const note = await readWitnessedNote(pool, originHash)
  if (note === undefined) return failures.notWitnessed()
  return {
    status: 200,
    body: note,
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    cache: 'public, max-age=5',
  }
}
