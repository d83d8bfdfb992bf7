// A request as a worker thread hands it to an operation, where the service itself asks.
import type { WorkerRequest } from '../../workers/in-flight.ts'

export function aRequest(body: Uint8Array): WorkerRequest {
  return {
    ticket: 0,
    takenMs: 0,
    costMs: 0,
    caller: { callerId: 'anonymous', reads: null, scope: 'unchecked' },
    body,
    params: {},
  }
}
