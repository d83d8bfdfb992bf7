// Calls for humans who decide and for machines that ask them (decisions §7 to §9): changes of authority, approvals, intents, the sandbox.
import type { Client } from 'openapi-fetch'
import { allItems, everyItem, wholePage } from './pages.ts'
import type { Call } from './retry.ts'
import type { components, paths } from './schema.ts'

type Schemas = components['schemas']
type Listed =
  | '/policies'
  | '/policies/in-effect'
  | '/policies/pending-changes'
  | '/approvers/changes'
  | '/external-connectors/changes'
  | '/webhook-rules/changes'
  | '/event-endpoints/changes'
  | '/caller-keys/changes'
  | '/stand-ins/changes'
  | '/approver-groups/changes'
  | '/approvals'
  | '/execution-intents/unfinalized'
  | '/webhook-events'
type Query<Path extends Listed> = NonNullable<paths[Path]['get']['parameters']['query']>

interface Cursor {
  cursor?: string
}

/** A version of a policy. */
export interface Version {
  readonly name: string
  readonly version: string
}

/** How a call is repeated: `read` for calls that store nothing, `change` for calls that change something. */
export interface Sending {
  readonly read: <T>(call: Call<T>) => Promise<T>
  readonly change: <T>(call: Call<T>) => Promise<T>
}

/**
 * Lists are a page, newest first. Calls for humans alone reject for all other callers with AnswerError 403 NON_HUMAN_CALLER_DENIED. A step-up
 * holds once: a resolution whose answer was lost is not sent again. Read the change instead.
 */
export function authorityMethods(http: Client<paths>, { read, change }: Sending) {
  return {
    /** GET /policies: every loaded version, by name, the highest first. */
    policies: (query: Query<'/policies'> = {}) => read(() => http.GET('/policies', { params: { query } })),
    /** GET /policies/in-effect: the approved versions, those of a `capability` where one is given. */
    policiesInEffect: (query: Query<'/policies/in-effect'> = {}) =>
      read(() => http.GET('/policies/in-effect', { params: { query } })),
    /** GET /policies/{name}/{version}: the document, and the signals that a caller declares under it (`toSend`). */
    policy: (version: Version) =>
      read(() => http.GET('/policies/{name}/{version}', { params: { path: version } })),
    /** GET /policies/{name}/{version}/policy.yaml: the document as YAML, to write the next version from. */
    policyText: (version: Version) =>
      read(() =>
        http.GET('/policies/{name}/{version}/policy.yaml', { params: { path: version }, parseAs: 'text' }),
      ),

    /**
     * POST /policies/{name}/{version}/pending-changes: proposes `proposedContent`, or the loaded version where it is left out. The versions that
     * it `retires` end at the moment in which it takes effect.
     */
    proposePolicyChange: (version: Version, proposal: Schemas['PolicyProposal']) =>
      change(() =>
        http.POST('/policies/{name}/{version}/pending-changes', {
          params: { path: version },
          body: proposal,
        }),
      ),
    /** The same route: ends an approved version, which then rejects every execution. */
    proposePolicyRetirement: (version: Version, reason: string) =>
      change(() =>
        http.POST('/policies/{name}/{version}/pending-changes', {
          params: { path: version },
          body: { action: 'retire', reason },
        }),
      ),
    policyChanges: (query: Query<'/policies/pending-changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/policies/pending-changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    policyChange: (id: string) => read(() => http.GET('/policies/pending-changes/{id}', of(id))),
    /** POST /policies/pending-changes/{id}/approve: by a human other than the proposer. */
    approvePolicyChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/policies/pending-changes/{id}/approve', { ...of(id), body: approval })),
    rejectPolicyChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/policies/pending-changes/{id}/reject', { ...of(id), body: rejection })),

    /** GET /approvers: every key, revoked ones included. */
    approvers: async () => ({
      approvers: await allItems<
        Cursor,
        Schemas['ApproverList'],
        Schemas['ApproverList']['approvers'][number]
      >(
        {},
        {
          get: (query) => http.GET('/approvers', { params: { query } }),
          itemsOf: (page) => page.approvers,
          read,
        },
      ),
    }),
    proposeApproverChange: (proposal: Schemas['ApproverProposal']) =>
      change(() => http.POST('/approvers/changes', { body: proposal })),
    approverChanges: (query: Query<'/approvers/changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/approvers/changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    approverChange: (id: string) => read(() => http.GET('/approvers/changes/{id}', of(id))),
    approveApproverChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/approvers/changes/{id}/approve', { ...of(id), body: approval })),
    rejectApproverChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/approvers/changes/{id}/reject', { ...of(id), body: rejection })),

    /** GET /external-connectors: the connectors in effect. */
    externalConnectors: async () => ({
      externalConnectors: await allItems<
        Cursor,
        Schemas['ExternalConnectorList'],
        Schemas['ExternalConnectorList']['externalConnectors'][number]
      >(
        {},
        {
          get: (query) => http.GET('/external-connectors', { params: { query } }),
          itemsOf: (page) => page.externalConnectors,
          read,
        },
      ),
    }),
    proposeExternalConnectorChange: (proposal: Schemas['ExternalConnectorProposal']) =>
      change(() => http.POST('/external-connectors/changes', { body: proposal })),
    externalConnectorChanges: (query: Query<'/external-connectors/changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/external-connectors/changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    externalConnectorChange: (id: string) =>
      read(() => http.GET('/external-connectors/changes/{id}', of(id))),
    approveExternalConnectorChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/external-connectors/changes/{id}/approve', { ...of(id), body: approval })),
    rejectExternalConnectorChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/external-connectors/changes/{id}/reject', { ...of(id), body: rejection })),

    /** GET /webhook-events: deliveries of providers and their outcomes, newest first, a page at a time. */
    webhookEvents: (filter: Omit<Query<'/webhook-events'>, 'page' | 'cursor'> = {}) =>
      everyItem<
        Query<'/webhook-events'>,
        Schemas['WebhookEventPage'],
        Schemas['WebhookEventPage']['events'][number]
      >(filter, {
        get: (query) => http.GET('/webhook-events', { params: { query } }),
        itemsOf: (page) => page.events,
        read,
      }),
    webhookEvent: (id: string) => read(() => http.GET('/webhook-events/{id}', of(id))),
    /** POST /webhook-events/{id}/process: processes it again, for example after the rules of its provider have changed. */
    processWebhookEvent: (id: string) =>
      change(() => http.POST('/webhook-events/{id}/process', { ...of(id), body: {} })),

    /** GET /webhook-rules: every list that was ever in effect, by provider, the newest first. */
    webhookRules: async () => ({
      webhookRules: await allItems<
        Cursor,
        Schemas['WebhookRulesPage'],
        Schemas['WebhookRulesPage']['webhookRules'][number]
      >(
        {},
        {
          get: (query) => http.GET('/webhook-rules', { params: { query } }),
          itemsOf: (page) => page.webhookRules,
          read,
        },
      ),
    }),
    /** POST /webhook-rules/changes: proposes `rules`, or the content of the provider's file where they are left out. */
    proposeWebhookRulesChange: (proposal: Schemas['WebhookRulesProposal']) =>
      change(() => http.POST('/webhook-rules/changes', { body: proposal })),
    webhookRulesChanges: (query: Query<'/webhook-rules/changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/webhook-rules/changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    webhookRulesChange: (id: string) => read(() => http.GET('/webhook-rules/changes/{id}', of(id))),
    approveWebhookRulesChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/webhook-rules/changes/{id}/approve', { ...of(id), body: approval })),
    rejectWebhookRulesChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/webhook-rules/changes/{id}/reject', { ...of(id), body: rejection })),

    /** GET /caller-keys: every key, revoked and configured keys included; for humans and auditors. */
    callerKeys: async () => ({
      callerKeys: await allItems<
        Cursor,
        Schemas['CallerKeyList'],
        Schemas['CallerKeyList']['callerKeys'][number]
      >(
        {},
        {
          get: (query) => http.GET('/caller-keys', { params: { query } }),
          itemsOf: (page) => page.callerKeys,
          read,
        },
      ),
    }),
    /** POST /caller-keys/changes: only the SHA-256 of a key is sent, and the key is made by its holder. */
    proposeCallerKeyChange: (proposal: Schemas['CallerKeyProposal']) =>
      change(() => http.POST('/caller-keys/changes', { body: proposal })),
    callerKeyChanges: (query: Query<'/caller-keys/changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/caller-keys/changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    callerKeyChange: (id: string) => read(() => http.GET('/caller-keys/changes/{id}', of(id))),
    approveCallerKeyChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/caller-keys/changes/{id}/approve', { ...of(id), body: approval })),
    rejectCallerKeyChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/caller-keys/changes/{id}/reject', { ...of(id), body: rejection })),

    /** GET /approver-groups: the groups in effect, and their members; for humans and auditors. */
    approverGroups: async () => ({
      approverGroups: await allItems<
        Cursor,
        Schemas['ApproverGroupList'],
        Schemas['ApproverGroupList']['approverGroups'][number]
      >(
        {},
        {
          get: (query) => http.GET('/approver-groups', { params: { query } }),
          itemsOf: (page) => page.approverGroups,
          read,
        },
      ),
    }),
    proposeApproverGroupChange: (proposal: Schemas['ApproverGroupProposal']) =>
      change(() => http.POST('/approver-groups/changes', { body: proposal })),
    approverGroupChanges: (query: Query<'/approver-groups/changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/approver-groups/changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    approverGroupChange: (id: string) => read(() => http.GET('/approver-groups/changes/{id}', of(id))),
    approveApproverGroupChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/approver-groups/changes/{id}/approve', { ...of(id), body: approval })),
    rejectApproverGroupChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/approver-groups/changes/{id}/reject', { ...of(id), body: rejection })),

    /** GET /stand-ins: the stand-ins that were set and not removed; for humans and auditors. */
    standIns: async () => ({
      standIns: await allItems<Cursor, Schemas['StandInList'], Schemas['StandInList']['standIns'][number]>(
        {},
        {
          get: (query) => http.GET('/stand-ins', { params: { query } }),
          itemsOf: (page) => page.standIns,
          read,
        },
      ),
    }),
    proposeStandInChange: (proposal: Schemas['StandInProposal']) =>
      change(() => http.POST('/stand-ins/changes', { body: proposal })),
    standInChanges: (query: Query<'/stand-ins/changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/stand-ins/changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    standInChange: (id: string) => read(() => http.GET('/stand-ins/changes/{id}', of(id))),
    approveStandInChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/stand-ins/changes/{id}/approve', { ...of(id), body: approval })),
    rejectStandInChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/stand-ins/changes/{id}/reject', { ...of(id), body: rejection })),

    /** GET /event-endpoints: the endpoints in effect, how far each of them has been served, and the keys of `v1a` signatures. */
    eventEndpoints: async () => {
      let publicKeys: readonly string[] = []
      const eventEndpoints = await allItems<
        Cursor,
        Schemas['EventEndpointList'],
        Schemas['EventEndpointList']['eventEndpoints'][number]
      >(
        {},
        {
          get: (query) => http.GET('/event-endpoints', { params: { query } }),
          itemsOf: (page) => {
            publicKeys = page.publicKeys
            return page.eventEndpoints
          },
          read,
        },
      )
      return { publicKeys, eventEndpoints }
    },
    proposeEventEndpointChange: (proposal: Schemas['EventEndpointProposal']) =>
      change(() => http.POST('/event-endpoints/changes', { body: proposal })),
    eventEndpointChanges: (query: Query<'/event-endpoints/changes'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/event-endpoints/changes', { params: { query: asked } }),
        itemsOf: ({ changes }) => changes,
        read,
      }).then((changes) => ({ changes })),
    eventEndpointChange: (id: string) => read(() => http.GET('/event-endpoints/changes/{id}', of(id))),
    approveEventEndpointChange: (id: string, approval: Schemas['ChangeApproval']) =>
      change(() => http.POST('/event-endpoints/changes/{id}/approve', { ...of(id), body: approval })),
    rejectEventEndpointChange: (id: string, rejection: Schemas['ChangeRejection']) =>
      change(() => http.POST('/event-endpoints/changes/{id}/reject', { ...of(id), body: rejection })),
    /** POST /event-endpoints/{id}/secret: the only reply that ever shows the secret. A step-up is needed while an earlier secret still signs. */
    makeEventEndpointSecret: (
      id: string,
      request: { stepUpAuthorization?: Schemas['EndpointStepUp'] } = {},
    ) => change(() => http.POST('/event-endpoints/{id}/secret', { ...of(id), body: request })),
    /** POST /event-endpoints/{id}/redeliver: delivers again from where delivery stopped, or behind `after`. A step-up is needed to skip events. */
    redeliverEvents: (id: string, redelivery: Schemas['EventRedelivery'] = {}) =>
      change(() => http.POST('/event-endpoints/{id}/redeliver', { ...of(id), body: redelivery })),

    /** POST /approvals: an approver's signature under one action, for the one execution that it covers. */
    deliverApproval: (approval: Schemas['SignedApproval']) =>
      change(() => http.POST('/approvals', { body: approval })),
    approvals: (query: Query<'/approvals'> = {}) => read(() => http.GET('/approvals', { params: { query } })),
    approval: (id: string) => read(() => http.GET('/approvals/{id}', of(id))),

    /** GET /execution-intents/{id}: how far an execution came, and whether it is `inDoubt`. */
    executionIntent: (id: string) => read(() => http.GET('/execution-intents/{id}', of(id))),
    /** GET /execution-intents/unfinalized: the intents in doubt. */
    unfinalizedIntents: (query: Query<'/execution-intents/unfinalized'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/execution-intents/unfinalized', { params: { query: asked } }),
        itemsOf: ({ intents }) => intents,
        read,
      }).then((intents) => ({ intents })),
    /** POST /execution-intents/{id}/finalize: closes the intent by its stored evidence. */
    finalizeIntent: (id: string) =>
      change(() => http.POST('/execution-intents/{id}/finalize', { ...of(id), body: {} })),
    /** POST /execution-intents/{id}/resolve: closes the intent by a human's statement; where two are needed, the first is noted as `firstWord`. */
    resolveIntent: (id: string, resolution: Schemas['IntentResolution']) =>
      change(() => http.POST('/execution-intents/{id}/resolve', { ...of(id), body: resolution })),

    /** POST /sandbox/evaluate: the answer that `execute` would give, and why, without executing. */
    evaluate: (transaction: Schemas['SubmittedTransaction']) =>
      read(() => http.POST('/sandbox/evaluate', { body: transaction })),
    /**
     * POST /sandbox/policies/simulate: the decisions that a document would have made, and the executions that the end of versions (`retires`)
     * would have refused; a chunk at a time, until `complete`.
     */
    simulatePolicy: (simulation: Schemas['SimulationRequest']) =>
      read(() => http.POST('/sandbox/policies/simulate', { body: simulation })),
    /**
     * POST /sandbox/policies/check: the mistakes of a policy as YAML text, each with its line. Without a mistake: its `document`, and the answer
     * that its proposal would get. For humans.
     */
    checkPolicy: (check: Schemas['PolicyCheckRequest']) =>
      read(() => http.POST('/sandbox/policies/check', { body: check })),
  }
}

const of = (id: string) => ({ params: { path: { id } } })
