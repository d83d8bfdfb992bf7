// Proofs that a list of the log's entries about a caller, a capability, a policy or an approver is complete.
import { Completeness, CompletenessRequest } from '../../formats/schemas/log.ts'
import { logRoute } from './log.ts'
import { post, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

const hash = 'Sx2NcfFMTPSZ3yxYkiJx3AAgBGzVbJ3mt7c/tdvNKhU='
const entry =
  'countersign/1 receipt 8b7c9a61d6b6bc1cc1a1e2d4ee8a2a1e4f8b9a1f2f4c8e5d7a6b3c2d1e0f9a8b caller=1f2e3d4c5b6a7988:1'

export const logCompleteness = [
  {
    ...logRoute,
    ...post,
    path: '/log/completeness',
    alsoAt: '/log/{log}/completeness',
    cost: 'compute',
    operationId: 'proveCompleteness',
    summary: 'Proof that a list of entries is complete',
    description:
      'The entries of a stream with the numbers from `from` to `to`, and the proof of the stream’s length under the newest checkpoint. An answer holds at most 256 entries; `to` may exceed the length. `countersign log complete` fetches all entries and checks the proofs. For humans and auditors; any other caller may ask for its own stream only.',
    body: {
      schema: CompletenessRequest,
      example: { stream: { caller: 'local-dev' }, from: 1, to: 256 },
    },
    answers: {
      200: {
        description: 'The entries and the proofs.',
        schema: Completeness,
        example: {
          log: 'countersign.example.com/log/1',
          checkpoint: 'countersign.example.com/log/1\n…',
          stream: { caller: 'local-dev' },
          tag: '1f2e3d4c5b6a7988',
          head: { n: 1, lastIndex: 0, position: 0, count: 1, path: [] },
          heads: { index: 1, path: [hash] },
          entries: [{ index: 0, entry, path: [hash] }],
        },
      },
    },
    failures: [
      'pathNotFound',
      'malformedJson',
      'invalidField',
      'streamNotFound',
      'noCheckpoint',
      'overloaded',
    ],
    handle: onThread('prove-complete'),
  },
] as const satisfies readonly Route[]
