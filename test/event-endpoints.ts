// Event endpoints that two humans have registered, and what they are sent.
import { expect, onTestFinished } from 'vitest'
import { putInEffect, type Human } from './authority.ts'
import { serve, type Answer, type Received } from './connectors/loopback.ts'
import type { TestDatabase } from './database.ts'
import { until, type TestService } from './service.ts'
import { aTransaction } from './transactions.ts'

export const CHANGES = '/event-endpoints/changes'
export const TYPES = ['execution.completed'] as const
export const aRegistration = (url: string, members: object = {}) => ({
  action: 'register',
  url,
  types: TYPES,
  reason: 'test',
  ...members,
})

interface Listed {
  readonly endpointId: string
  readonly url: string
  readonly state: string
  readonly cursor: string
  readonly lastFailure?: string
  readonly [member: string]: unknown
}

/** @param at the service that is asked, read at each call */
export function eventEndpoints(
  at: () => TestService,
  humans: { readonly maker: Human; readonly checker: Human },
) {
  async function listed(url: string): Promise<Listed | undefined> {
    const { body } = await at().get('/event-endpoints', { key: humans.checker.key })
    return (body.eventEndpoints as Listed[]).find((row) => row.url === url)
  }

  /** Registers an endpoint that answers so, until the test has finished. */
  async function anEndpoint(answer: Answer, members: object = {}) {
    const receiver = await serve(answer)
    const url = `${receiver.origin}/events`
    const { changeId } = await putInEffect(at(), humans, CHANGES, aRegistration(url, members))
    onTestFinished(async () => {
      if ((await listed(url)) !== undefined)
        await putInEffect(at(), humans, CHANGES, { action: 'revoke', url, reason: 'over' })
    })
    return { ...receiver, url, id: changeId, path: `/event-endpoints/${changeId}` }
  }

  async function execute(by: { key: string } = at(), members: object = {}): Promise<string> {
    const transaction = aTransaction(members)
    const { status, text } = await at().post('/execute', transaction, { key: by.key })
    expect(status, text).toBe(200)
    return transaction.businessTransactionId
  }

  return { listed, anEndpoint, execute }
}

export interface Event {
  readonly eventId: string
  readonly type: string
  readonly businessTransactionId?: string
  readonly [member: string]: unknown
}
export const eventOf = ({ body }: Received) => JSON.parse(body) as Event
export const idsIn = (requests: readonly Received[]) =>
  requests.map((request) => eventOf(request).businessTransactionId)

/** Waits until the transactions have been delivered. */
export async function delivered(requests: readonly Received[], ids: readonly string[]): Promise<void> {
  await until(() => ids.every((id) => idsIn(requests).includes(id)), 'the deliveries')
}

/** As if the last redelivery to an endpoint had been asked for a minute earlier. */
export async function aMinuteLater({ pool }: TestDatabase, endpointId: string): Promise<void> {
  await pool.query(
    `UPDATE event_deliveries SET redelivered_at = redelivered_at - interval '1 minute' WHERE endpoint_id = $1`,
    [endpointId],
  )
}
