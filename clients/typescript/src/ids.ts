// The id of a business transaction from your own key for the work (interface §7 "Idempotency").
import { v5 } from 'uuid'

/**
 * UUIDv5 (RFC 9562 §5.5): the same work gets the same id in every program, so the service executes it at most once.
 * @param namespace a UUID of your own, which never changes
 * @param name your key for the work, e.g. `invoice-4711`
 * @throws TypeError where the namespace is not a UUID
 */
export function deterministicId(namespace: string, name: string): string {
  return v5(name, namespace)
}
