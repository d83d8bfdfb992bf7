// The sandbox: what would be decided, without deciding it (decisions §9).
import { SubmittedTransaction } from '../../formats/schemas/business-transaction.ts'
import { PolicySimulation, SandboxEvaluation, SimulationRequest } from '../../formats/schemas/sandbox.ts'
import evaluation from '../openapi/examples/sandbox-evaluation.json' with { type: 'json' }
import policy from '../openapi/examples/simulated-policy.json' with { type: 'json' }
import transaction from '../openapi/examples/transaction.json' with { type: 'json' }
import { post, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

export const sandbox = [
  {
    ...post,
    path: '/sandbox/evaluate',
    session: true,
    cost: 'compute',
    operationId: 'evaluateInSandbox',
    tag: 'Sandbox',
    summary: 'The decision a transaction would get, and everything that is wrong with it',
    description:
      'Any JSON is answered 200. Nothing is stored, consumed, called or signed: whether the id is taken, whether declared signals are ' +
      'what would be verified and how the connector would answer is not looked at. `presentState` tells what the verified signals are ' +
      'now that the service itself holds; one that is left out of `signals` is decided on so.',
    body: { schema: SubmittedTransaction, example: transaction },
    answers: {
      200: {
        description: '`wouldAnswer` is what POST /execute answers, as far as that is known without state.',
        schema: SandboxEvaluation,
        example: evaluation,
      },
    },
    failures: ['internal'],
    readsDatabase: true,
    handle: onThread('evaluate'),
  },
  {
    ...post,
    path: '/sandbox/policies/simulate',
    session: true,
    cost: 'compute',
    operationId: 'simulatePolicy',
    tag: 'Sandbox',
    summary: 'Which past decisions a policy document would flip, or the end of versions would have refused',
    description:
      'Looks at one chunk of the past, newest first: transactions that you may read and that were decided under any version of ' +
      'the `policyId` of the document, or of the one that is given in its place. With `retires`, it says too which executions were ' +
      'approved under a version that would end: they would have been refused as they were sent, whatever the document says. Send the ' +
      'same body with `cursor` set to `next` until `complete`. State is not verified again: signals are taken as declared, but for ' +
      'those that were found to differ from it then.',
    body: { schema: SimulationRequest, example: { policy, since: '2026-11-21T00:00:00Z' } },
    answers: {
      200: {
        description: 'One chunk.',
        schema: PolicySimulation,
        example: {
          complete: true,
          progress: { examined: 3, decided: 2, until: '2026-11-21T00:00:00.000Z', share: 1 },
          flips: [
            {
              businessTransactionId: transaction.businessTransactionId,
              createdAt: '2026-11-21T09:00:00.125Z',
              was: { outcome: 'APPROVED' },
              wouldBe: { outcome: 'REJECTED', reason: 'Amount above 10.', matchedRuleId: 'too-large' },
            },
          ],
          unchanged: 1,
          skipped: 1,
          range: { since: '2026-11-21T00:00:00.000Z', until: '2026-11-22T00:00:00.000Z' },
        },
      },
    },
    failures: ['fieldRequired', 'invalidField'],
    readsDatabase: true,
    handle: onThread('simulate'),
  },
] as const satisfies readonly Route[]
