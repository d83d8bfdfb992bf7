// The external connectors in effect, and changes of them (decisions §7, §8).
import { ExternalConnectorList, ExternalConnectorProposal } from '../../formats/schemas/external-connector.ts'
import { readExternalConnectors } from '../../store/tables/external-connectors.ts'
import { externalConnectorChange as change } from '../openapi/examples/changes.ts'
import { changeRoutes } from './changes.ts'
import { wholeList } from './list.ts'
import { governingGet, type Route } from '../route.ts'

const { action: _, ...registration } = change.pending.proposed

export const externalConnectors = [
  wholeList({
    ...governingGet,
    path: '/external-connectors',
    readers: true,
    operationId: 'listExternalConnectors',
    tag: 'External Connectors',
    summary: 'The external connectors in effect',
    description: 'Each capability has at most one. For humans and auditors.',
    order: 'capability',
    schema: ExternalConnectorList,
    member: 'externalConnectors',
    example: {
      externalConnectors: [
        {
          changeId: change.approved.changeId,
          ...registration,
          readBack: false,
          registeredAt: change.approved.resolvedAt,
        },
      ],
    },
    // Nothing in a registration is secret: an endpoint that holds a query or credentials is not registered.
    read: ({ pool }) => readExternalConnectors(pool),
    keyOf: ({ capability }) => capability,
  }),
  ...changeRoutes({
    kind: 'external-connector',
    noun: 'an external connector',
    name: 'ExternalConnector',
    example: change,
    proposal: {
      description:
        'To register a connector, send all members except the optional timeoutMs; to revoke it, send its capability. The endpoint must resolve to public addresses only, which is checked now and again at the approval.',
      schema: ExternalConnectorProposal,
      example: {
        ...change.pending.proposed,
        // A loopback address, so that a reader can try it.
        endpointUrl: 'http://127.0.0.1:8080/releases',
        reason: change.pending.reason,
      },
    },
  }),
] as const satisfies readonly Route[]
