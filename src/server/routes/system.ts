// The state of the service (interface §4.1).
import { Health, NotReady, Ready, ServiceStatus, Version } from '../../formats/schemas/system.ts'
import type { Gate } from '../../core/errors/gates.ts'
import { whyNotAdmitting } from '../usable.ts'
import { homePage } from '../pages/home.ts'
import { get, json, type RouteRequest, type Route } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Condition } from '../service.ts'

/** The names of the product and of the REST API's version (interface §9.1). */
export const NAME = 'countersign'
export const API_VERSION = 'v1'

export const system = [
  {
    ...get,
    path: '/',
    operationId: 'getService',
    tag: 'System',
    summary: 'Check that a key is valid and the service answers',
    description:
      'A client whose `Accept` prefers `text/html` to JSON, such as a browser, gets a page with links to the other pages instead of the JSON, with the same status.',
    answers: {
      200: {
        description: 'The service answers and the key is valid.',
        schema: ServiceStatus,
        example: { name: 'countersign', status: 'UP' },
      },
    },
    failures: [],
    page: homePage,
    handle: async () => json({ name: NAME, status: 'UP' }),
  },
  {
    method: 'GET',
    path: '/health',
    open: true,
    limit: 'health',
    operationId: 'getHealth',
    tag: 'System',
    summary: 'Check that the process runs',
    description: 'Does not check the database.',
    answers: { 200: { description: 'The process runs.', schema: Health, example: { status: 'UP' } } },
    failures: [],
    handle: async () => json({ status: 'UP' }),
  },
  {
    method: 'GET',
    path: '/ready',
    open: true,
    limit: 'health',
    operationId: 'getReadiness',
    tag: 'System',
    summary: 'Check that executions can be stored',
    answers: {
      200: {
        description: 'The database and its execution-intents table are usable.',
        schema: Ready,
        example: { status: 'READY', authDisabled: false },
      },
      503: {
        description: 'The database or the table is not usable, or the service is stopping.',
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
    handle: readiness,
  },
  {
    ...get,
    path: '/version',
    operationId: 'getVersion',
    tag: 'System',
    summary: 'Versions of the API and of the build',
    answers: {
      200: {
        description: '`version` identifies a build of a deployment; it is no release number.',
        schema: Version,
        example: { name: 'countersign', version: '0.2.0', api: 'v1' },
      },
    },
    failures: [],
    handle: async (_request, { config }) =>
      json({ name: NAME, version: config.buildVersion, api: API_VERSION }),
  },
] as const satisfies readonly Route[]

/** The database is asked after the request came, so no answer is older than its request. */
async function readiness(_request: RouteRequest, service: Condition): Promise<Answer> {
  if (service.stopping()) return notReady(service, 'stopping', 'The service is stopping.')
  const unusable = await service.whyUnusable()
  if (unusable !== undefined) {
    return {
      ...notReady(service, 'database', `The database cannot be used: ${unusable.why}.`),
      log: { cause: String(unusable.cause) },
    }
  }
  const fault = service.evidenceFaults.current()
  if (fault !== undefined) {
    const cause = fault.kind === 'refused' ? fault.sqlState : service.evidenceFaults.businessTransactionId()
    return { ...notReady(service, 'evidence', whyNotAdmitting(fault)), log: { cause } }
  }
  const revoked = service.revokedSigner()
  if (revoked !== undefined)
    return notReady(service, 'signing-key', `A signing key of this instance no longer counts: ${revoked}.`)
  const overload = service.overload()
  if (overload !== undefined) return { ...notReady(service, 'waiting', overload), log: { cause: overload } }
  const warnings = service.warnings()
  return json({
    status: 'READY',
    authDisabled: service.config.authDisabled,
    ...(warnings.length === 0 ? {} : { warnings }),
  })
}

/** `status` and `reason` are interface §4.1; `error` repeats the reason for the envelope of every non-2xx reply (§7). */
function notReady(service: Condition, gate: Gate, reason: string): Answer {
  return json(
    { status: 'NOT_READY', reason, error: reason, authDisabled: service.config.authDisabled },
    { status: 503, gate },
  )
}
