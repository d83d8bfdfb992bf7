// POST /execute and POST /transactions (interface §4.2): the body goes to a worker thread as it came, unparsed.
import type { Answer, Handler, Incoming, Service } from './route.ts'

export const execute: Handler = (request, service) => submit(request, service, 200)

/** The same execution under the status of a creation. */
export const executeAsTransaction: Handler = (request, service) => submit(request, service, 201)

async function submit(request: Incoming, { dispatcher }: Service, successStatus: 200 | 201): Promise<Answer> {
  const reply = await dispatcher.submit('execute', request.body, request.callerIndex)
  return { ...reply, status: reply.status === 200 ? successStatus : reply.status }
}
