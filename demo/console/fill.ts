// Has the demo's month happen at a service, moment after moment, each at its own time.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  newNonce,
  signedApproval,
  signedStepUp,
  stepUpFor,
  type ShownChange,
} from '../../src/cli/approver.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { changePaths } from '../../src/formats/change-paths.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import type { ExecutionIntent } from '../../src/formats/schemas/execution-intent.ts'
import type { ChangeKindName } from '../../src/formats/schemas/governance.ts'
import { resolutionStepUpPayload } from '../../src/formats/step-up-payload.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { openClient, type Reply } from '../client.ts'
import type { Action } from './actions.ts'
import type { ProposedChange } from './changes.ts'
import type { ChangeName, Happening, Moment } from './month.ts'
import { type Caller, type Human, type People } from './people.ts'
import type { Receivers } from './receivers.ts'

export const BANK_SECRET = 'whsec_of-the-demo-alone'

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Moves the clock of the service and of its database; never back. */
  readonly moveTo: (ms: number) => Promise<void>
}

export interface Filling {
  readonly url: string
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly people: People
  readonly receivers: Receivers
  /** Returns once everything that is stored is in the evidence log. */
  readonly logged: () => Promise<void>
  readonly changes: Readonly<Record<ChangeName, ProposedChange>>
}

interface Asked {
  readonly action: Action
  readonly request: ApprovalRequest
  usedBy?: string
}

const VERSIONS: Readonly<Record<string, string>> = {
  'customer-refund': '2.0.0',
  'llm-tool-call': '2.0.0',
  'access-control': '2.0.0',
  'database-change': '4.0.0',
  'sandbox-echo': '1.0.0',
  'vendor-payment': '2.1.0',
  'production-deployment': '2.0.0',
}

/** What the connector of a capability may be sent. */
const CONNECTORS: Readonly<
  Record<string, { readonly policy: string; readonly parameters: readonly string[] }>
> = {
  'vendor:pay': { policy: 'vendor-payment', parameters: ['amount', 'currency', 'invoice'] },
  'payments:refund': {
    policy: 'customer-refund',
    parameters: ['amount', 'currency', 'customerId', 'orderAmount'],
  },
  'deployment:release': { policy: 'production-deployment', parameters: ['build', 'trafficPercent', 'kind'] },
  'access:grant': { policy: 'access-control', parameters: ['principalId', 'role', 'durationHours'] },
  'access:revoke': { policy: 'access-control', parameters: ['principalId', 'role', 'durationHours'] },
  'database:change': { policy: 'database-change', parameters: ['tables', 'rowsAffected', 'destructive'] },
  'llm:call-tool': { policy: 'llm-tool-call', parameters: ['cost', 'query', 'to'] },
}

/** How long a service that is overloaded is asked again. */
const OVERLOADED_MS_MAX = 60_000
const OVERLOADED_REST_MS = 200

/** Executions so near to each other share a moment of the clock, and happen together. */
const TOGETHER_MS = 15 * 60_000
const TOGETHER_MAX = 8

/**
 * Enrols the approvers, registers the connectors, then lives through the moments.
 * @throws Error with the answer where the service does not answer as the story has it
 */
export async function fill(moments: readonly Moment[], filling: Filling): Promise<void> {
  const story = openStory(filling)
  await story.begin()
  for (const group of inGroups(moments)) {
    filling.signal.throwIfAborted()
    await filling.clock.moveTo(group[0]!.at)
    await Promise.all(group.map(({ happening }) => story.live(happening)))
  }
}

function inGroups(moments: readonly Moment[]): Moment[][] {
  const groups: Moment[][] = []
  for (const moment of moments) {
    const group = groups.at(-1)
    const first = group?.[0]
    const fits =
      first?.happening.kind === 'execute' &&
      moment.happening.kind === 'execute' &&
      moment.at - first.at < TOGETHER_MS &&
      group!.length < TOGETHER_MAX
    if (fits) group!.push(moment)
    else groups.push([moment])
  }
  return groups
}

function openStory({ url, signal, clock, people, receivers, logged, changes }: Filling) {
  const versions = { ...VERSIONS }
  const asked = new Map<number, Asked>()
  const { dana, erin, frank, grace } = people.humans

  async function call(who: Pick<Caller, 'key'>, path: string, body: unknown, ...expected: number[]) {
    const post = openClient({ url, key: who.key, signal })
    const deadline = performance.now() + OVERLOADED_MS_MAX
    let reply = await post('POST', path, body)
    // A machine with other work makes the service turn away what it would answer later; nothing was done then.
    while (reply.body['code'] === 'OVERLOADED' && performance.now() < deadline) {
      await delay(OVERLOADED_REST_MS, undefined, { signal })
      reply = await post('POST', path, body)
    }
    if (!expected.includes(reply.status))
      throw new Error(`${path} is answered ${reply.status}: ${reply.text}`)
    return reply
  }

  const isoNow = () => new Date(clock.now()).toISOString()

  function transactionOf({ by, capability, target, parameters, signals, policy }: Action) {
    const [businessTransactionId, authorityId, authorizationId] = [randomUUID(), randomUUID(), randomUUID()]
    const now = isoNow()
    return {
      businessTransactionId,
      metadata: { businessTransactionId, sourceSystem: by, submittedBy: by, submittedAt: now },
      authority: { authorityId, authorityType: 'SERVICE', principalId: by, displayName: by, issuedAt: now },
      authorization: { authorizationId, authorityId, purpose: capability, issuedAt: now },
      intent: {
        intentId: randomUUID(),
        authorizationId,
        action: capability,
        target,
        parameters,
        createdAt: now,
      },
      policy: { name: policy, version: versions[policy], schemaVersion: '1.0.0' },
      signals,
    }
  }

  /** A refusal is an answer like any other. */
  async function execute(action: Action): Promise<string> {
    const transaction = transactionOf(action)
    await call(people.agents[action.by], '/execute', transaction, 200, 403, 500, 502, 504)
    return transaction.businessTransactionId
  }

  async function change(
    { path, body, outcome, version }: ProposedChange,
    checker: Human = dana,
  ): Promise<void> {
    const { body: proposed } = await call(grace, path, body, 201)
    if (outcome === 'wait') return
    const shown = proposed as ShownChange & { readonly kind: ChangeKindName }
    const stepUpAuthorization = stepUpFor(shown, {
      action: outcome,
      key: checker.stepUp,
      now: new Date(clock.now()),
    })
    const rejection = outcome === 'reject' ? { rejectionReason: 'Fraud is what the rule is for.' } : {}
    const resolve = `${changePaths[shown.kind]}/${shown.changeId}/${outcome}`
    await call(checker, resolve, { stepUpAuthorization, ...rejection }, 200)
    if (version !== undefined && outcome === 'approve') versions[version.policy] = version.version
  }

  async function sign(by: Human, { request: { request, requestHash, expiresAt } }: Asked): Promise<Reply> {
    const payload = {
      version: 2,
      approvalId: randomUUID(),
      approverId: by.callerId,
      keyId: by.approving.public.keyId,
      capability: request.capability,
      target: request.target,
      scope: { parametersHash: sha256Hex(canonicalize(request.parameters as Json)) },
      issuedAt: isoNow(),
      expiresAt,
      nonce: randomUUID(),
      requestHash,
    }
    return call(by, '/approvals', signedApproval(payload, by.approving), 201)
  }

  async function close(by: Human, { usedBy: businessTransactionId = '' }: Asked): Promise<void> {
    const path = `/execution-intents/${businessTransactionId}`
    const reply = await openClient({ url, key: by.key, signal })('GET', path)
    const { authorization } = reply.body as unknown as ExecutionIntent
    const { businessTransactionHash } = authorization.payload
    const said = { resolution: 'NOT_EXECUTED', note: 'The bank has no such payment.' } as const
    const payload = resolutionStepUpPayload(
      { businessTransactionId, businessTransactionHash, ...said },
      { nonce: newNonce(), now: new Date(clock.now()) },
    )
    await call(by, `${path}/resolve`, { ...said, stepUpAuthorization: signedStepUp(payload, by.stepUp) }, 200)
  }

  async function deliver(to: Asked, event: string, amount: number | undefined): Promise<void> {
    const { currency } = to.action.parameters
    const body = JSON.stringify({
      event,
      reference: to.usedBy,
      amount: amount ?? to.action.parameters['amount'],
      currency,
      at: isoNow(),
    })
    const response = await fetch(`${url}/webhooks/bank`, {
      method: 'POST',
      headers: {
        'X-Bank-Signature': createHmac('sha256', BANK_SECRET).update(body).digest('hex'),
        'X-Bank-Event-Id': `evt_${randomUUID()}`,
        'Content-Type': 'application/json',
      },
      body,
      signal,
    })
    if (!response.ok) throw new Error(`a delivery is answered ${response.status}: ${await response.text()}`)
  }

  function ofAsk(ask: number): Asked {
    const found = asked.get(ask)
    if (found === undefined) throw new Error(`request ${ask} of the story was not opened yet`)
    return found
  }

  async function begin(): Promise<void> {
    for (const human of [dana, erin, frank])
      await change({
        path: '/approvers/changes',
        body: {
          action: 'add',
          approverId: human.callerId,
          keyId: human.approving.public.keyId,
          publicKeyPem: human.approvingPem,
          reason: 'May approve payments.',
        },
        outcome: 'approve',
      })
    for (const [capability, { policy, parameters }] of Object.entries(CONNECTORS))
      await change(
        {
          path: '/external-connectors/changes',
          body: {
            action: 'register',
            capability,
            endpointUrl: `${receivers.origin}/actions/${encodeURIComponent(capability)}`,
            policy,
            allowedParameters: parameters,
            reason: `Carries out ${capability}.`,
          },
          outcome: 'approve',
        },
        erin,
      )
  }

  async function live(happening: Happening): Promise<void> {
    switch (happening.kind) {
      case 'execute':
        await execute(happening.action)
        return
      case 'ask': {
        const { action, note, expiresInSeconds } = happening
        const body = { transaction: transactionOf(action), note, expiresInSeconds }
        const reply = await call(people.agents[action.by], '/approval-requests', body, 201)
        asked.set(happening.ask, { action, request: reply.body as unknown as ApprovalRequest })
        return
      }
      case 'sign':
        await sign(people.humans[happening.by], ofAsk(happening.ask))
        return
      case 'decline': {
        const { reason, by } = happening
        await call(people.humans[by], `${ofAsk(happening.ask).request.url}/decline`, { reason }, 200)
        return
      }
      case 'withdraw': {
        const { action, request } = ofAsk(happening.ask)
        await call(people.agents[action.by], `${request.url}/withdraw`, {}, 200)
        return
      }
      case 'use': {
        const to = ofAsk(happening.ask)
        const transaction = transactionOf(to.action)
        receivers.answerNext(transaction.businessTransactionId, happening.outcome)
        to.usedBy = transaction.businessTransactionId
        await call(people.agents[to.action.by], '/execute', transaction, 200, 403, 500, 502, 504)
        return
      }
      case 'close':
        await close(people.humans[happening.by], ofAsk(happening.ask))
        return
      case 'deliver':
        await deliver(ofAsk(happening.ask), happening.event, happening.amount)
        return
      case 'change':
        // The log follows within a second, in which hours of the demo go by: an endpoint would be pushed what came long before it.
        await logged()
        await change(changes[happening.change])
    }
  }

  return { begin, live }
}
