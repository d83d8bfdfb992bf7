// The system routes of interface §4.1.
import { failures } from '../../core/errors.ts'
import { whyRefused, whyUnusable } from '../../core/tables/usable.ts'
import { json, type Answer, type Handler, type Service } from './route.ts'

/** The name of the product and of the REST API's version (interface §9.1). */
export const NAME = 'countersign'
export const API_VERSION = 'v1'

export const root: Handler = () => json({ name: NAME, status: 'UP' })

/** Whenever the process runs; checks nothing else. */
export const health: Handler = () => json({ status: 'UP' })

/** Whether executions can be stored, asked of the database each time, and whether this instance keeps up with them. */
export const ready: Handler = async (_request, service) => {
  if (service.stopping()) return notReady(service, 'The service is stopping.')
  const unusable = await whyUnusable(service.readyPool)
  if (unusable !== undefined) {
    return {
      ...notReady(service, `The database cannot be used: ${unusable.why}.`),
      log: { cause: String(unusable.cause) },
    }
  }
  const refused = service.storeFault.sqlState()
  if (refused !== undefined) {
    const reason = `The database refuses to store evidence: ${whyRefused(refused)}.`
    return { ...notReady(service, reason), log: { cause: refused } }
  }
  const overload = service.overload()
  if (overload !== undefined) return { ...notReady(service, overload), log: { cause: overload } }
  const { warnings } = service
  return json({
    status: 'READY',
    authDisabled: service.config.authDisabled,
    ...(warnings.length === 0 ? {} : { warnings }),
  })
}

/** Interface §4.1: `status` and a `reason`; `error` repeats the reason, for the envelope of every non-2xx reply (§7). */
function notReady(service: Service, reason: string): Answer {
  return json(
    { status: 'NOT_READY', reason, error: reason, authDisabled: service.config.authDisabled },
    { status: 503 },
  )
}

export const version: Handler = (_request, { config }) =>
  json({ name: NAME, version: config.buildVersion, api: API_VERSION })

/** Exactly the four members of interface §2.6. */
export const callerIdentity: Handler = ({ caller }) => {
  if (caller === undefined) return failures.callerIdentityMissing()
  const { callerId, allowedPrincipalIds, allowedCapabilities, unrestrictedCapabilities } = caller
  return json({ callerId, allowedPrincipalIds, allowedCapabilities, unrestrictedCapabilities })
}
