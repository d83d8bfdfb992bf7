// The system routes of interface §4.1.
import { NonEmptyText } from '../../../core/schemas/primitives.ts'
import { CallerIdentity } from '../../../core/schemas/caller-identity.ts'
import { KeySet, PublicSigningKey } from '../../../core/schemas/signing-key.ts'
import { Health, NotReady, Ready, ServiceStatus, Version } from '../../../core/schemas/system.ts'
import signingKey from '../examples/signing-key.json' with { type: 'json' }
import type { Operation } from '../operation.ts'

export const system = {
  'GET /': {
    operationId: 'getService',
    tag: 'System',
    summary: 'Whether a key is good and the service answers',
    description:
      'A client whose `Accept` names `text/html` and prefers it to JSON, as browsers do, gets a page with links to the others in place of the JSON, under the same status.',
    answers: {
      200: {
        description: 'Up.',
        schema: ServiceStatus,
        example: { name: 'countersign', status: 'UP' },
      },
    },
    failures: [],
  },
  'GET /health': {
    operationId: 'getHealth',
    tag: 'System',
    summary: 'Whether the process runs',
    description: 'Checks nothing else.',
    answers: { 200: { description: 'It runs.', schema: Health, example: { status: 'UP' } } },
    failures: [],
  },
  'GET /ready': {
    operationId: 'getReadiness',
    tag: 'System',
    summary: 'Whether executions can be stored',
    answers: {
      200: {
        description: 'The database and its execution-intents table are usable.',
        schema: Ready,
        example: { status: 'READY', authDisabled: false },
      },
      503: {
        description: 'They are not, or the service is stopping.',
        schema: NotReady,
        example: {
          status: 'NOT_READY',
          reason: 'The service is stopping.',
          error: 'The service is stopping.',
          authDisabled: false,
        },
      },
    },
    failures: [],
  },
  'GET /version': {
    operationId: 'getVersion',
    tag: 'System',
    summary: 'The version of the API and of the build',
    answers: {
      200: {
        description: '`version` identifies a build of a deployment; it is no release number.',
        schema: Version,
        example: { name: 'countersign', version: '0.1.0', api: 'v1' },
      },
    },
    failures: [],
  },
  'GET /keys/{keyId}': {
    operationId: 'getKey',
    tag: 'System',
    summary: 'A public key, of the service or of an approver',
    description:
      'Keys that no longer sign stay readable, so that what they signed can be checked. An id with a colon, `{approverId}:{keyId}`, is an approver’s: it counts for approvals and for nothing else, and a revoked one says since when.',
    params: {
      keyId: { schema: NonEmptyText, description: 'As signatures name it.', example: signingKey.keyId },
    },
    answers: {
      200: { description: 'The key.', schema: PublicSigningKey, example: signingKey, cached: true },
    },
    failures: ['keyNotFound'],
  },
  'GET /.well-known/jwks.json': {
    operationId: 'getKeySet',
    tag: 'System',
    summary: 'All public signing keys',
    description: 'A superset of a standard key set: entries may lack `jwk`.',
    answers: {
      200: {
        description: 'In ascending order of keyId.',
        schema: KeySet,
        example: { keys: [signingKey] },
        cached: true,
      },
    },
    failures: [],
  },
  'GET /callers/me': {
    operationId: 'getCaller',
    tag: 'System',
    summary: 'Who the key makes you, and what you may do',
    answers: {
      200: {
        description: 'The effective scope; never key material.',
        schema: CallerIdentity,
        example: {
          callerId: 'local-dev',
          allowedPrincipalIds: ['local-dev'],
          allowedCapabilities: ['*'],
          unrestrictedCapabilities: true,
        },
      },
    },
    failures: ['callerIdentityMissing'],
  },
} as const satisfies Record<string, Operation>
