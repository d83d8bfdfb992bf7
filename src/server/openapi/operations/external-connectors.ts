// External connectors, and changes of them (decisions §7, §8).
import { ExternalConnectorList, ExternalConnectorProposal } from '../../../core/schemas/external-connector.ts'
import change from '../examples/external-connector-change.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { cursor } from '../parameters.ts'
import { approving, listing, proposing, rejecting, showing } from './changes.ts'

const words = { noun: 'an external connector', name: 'ExternalConnector' }
const { action: _, ...registration } = change.pending.proposed

export const externalConnectors = {
  'GET /external-connectors': {
    operationId: 'listExternalConnectors',
    tag: 'External Connectors',
    summary: 'The external connectors in effect',
    description: 'One for a capability. For humans. Whole, up to 4 MiB; then `Link` leads on.',
    query: cursor,
    answers: {
      200: {
        description: 'By capability.',
        schema: ExternalConnectorList,
        example: {
          externalConnectors: [
            {
              changeId: change.approved.changeId,
              ...registration,
              registeredAt: change.approved.resolvedAt,
            },
          ],
        },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['invalidQuery', 'overloaded'],
    readsDatabase: true,
  },
  'POST /external-connectors/changes': proposing(words, change, {
    description:
      'To register takes all members but timeoutMs, to revoke the capability. The endpoint is looked at now and again when it is approved; it resolves to public addresses only.',
    body: {
      schema: ExternalConnectorProposal,
      example: {
        ...change.pending.proposed,
        // On the machine itself, so that it can be tried at home.
        endpointUrl: 'http://127.0.0.1:8080/releases',
        reason: change.pending.reason,
      },
    },
  }),
  'GET /external-connectors/changes': listing(words, change),
  'GET /external-connectors/changes/{id}': showing(words, change),
  'POST /external-connectors/changes/{id}/approve': approving(words, change),
  'POST /external-connectors/changes/{id}/reject': rejecting(words, change),
} as const satisfies Record<string, Operation>
