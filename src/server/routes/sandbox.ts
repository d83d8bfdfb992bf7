// The sandbox: shows how a transaction would be decided, without deciding it (decisions §9).
import { SubmittedTransaction } from '../../formats/schemas/business-transaction.ts'
import { policyText } from '../../core/policy/text.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import {
  PolicyCheck,
  PolicyCheckRequest,
  PolicySimulation,
  SandboxEvaluation,
  SimulationRequest,
} from '../../formats/schemas/sandbox.ts'
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
    summary: 'Evaluate a transaction without executing it',
    description:
      'Returns the decision and every problem of the transaction; any JSON answers 200. Nothing is stored, consumed, called or signed: ' +
      'a duplicate id, state outside the service and the answer of the connector are not checked. `presentState` holds the current ' +
      'values of the verified signals that the service itself knows; a signal left out of `signals` takes its value from there.',
    body: { schema: SubmittedTransaction, example: transaction },
    answers: {
      200: {
        description:
          '`wouldAnswer` is the answer of POST /execute, as far as it is known without external state.',
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
    summary: 'Compare past decisions with a policy document or a retirement of versions',
    description:
      'Examines one chunk of the past, newest first: transactions that you may read and that were decided under any version of ' +
      'the document’s `policyId`, or of the `policyId` given instead of a document. With `retires` it also lists executions that were ' +
      'approved under a version to retire: they would have been refused as they were sent, whatever the document says. Send the ' +
      'same body with `cursor` set to `next` until `complete`. State is not verified again: signals count as declared, except those ' +
      'that differed from the verified state at the time.',
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
              summary: 'sandbox:echo → first-steps',
              amount: 42,
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
  {
    ...post,
    path: '/sandbox/policies/check',
    human: true,
    session: true,
    cost: 'compute',
    operationId: 'checkPolicy',
    tag: 'Sandbox',
    summary: 'Check the text of a policy before it is proposed',
    description:
      'For humans. Reads YAML as `countersign policy check` does and, with `cases`, runs them as `policy test` does, at most 200. Where the text ' +
      'has no mistake, `document` is the content to propose, and `wouldAnswer` what its proposal would be answered now. Nothing is stored.',
    body: { schema: PolicyCheckRequest, example: { policy: policyText(policy as PolicyDocument) } },
    answers: {
      200: {
        description:
          'Every mistake with its line; where there is none, the document with the warnings that its change would have.',
        schema: PolicyCheck,
        example: {
          mistakes: [{ line: 10, column: 5, rule: 'too-large', message: 'The rule must have `outcome`.' }],
          warnings: [],
        },
      },
    },
    failures: ['fieldRequired', 'invalidField'],
    readsDatabase: true,
    handle: onThread('check-policy'),
  },
] as const satisfies readonly Route[]
