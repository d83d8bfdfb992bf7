// THE route table: every path and method of the service, in the order of interface §4. The OpenAPI document is made from it.
import { homePage } from '../pages/home.ts'
import { approval, approvals } from './approvals.ts'
import { approvers } from './approvers.ts'
import { auditEvents } from './audit.ts'
import { documentation, documentationAsset, reference, referenceAsset } from './documentation.ts'
import { manifest, openapiJson, openapiYaml } from './documents.ts'
import { latestReceipt, latestVerification, listOf } from './evidence.ts'
import { executionIntent, unfinalizedIntents } from './execution-intents.ts'
import { externalConnectors } from './external-connectors.ts'
import { listChanges, proposeChange, resolveChange, showChange } from './governance.ts'
import { handbook, handbookPage } from './handbook.ts'
import { key, keySet } from './keys.ts'
import { policies, policiesInEffect, showPolicy, validatePolicy } from './policies.ts'
import { refusal } from './refusals.ts'
import { validityBody, type Route } from './route.ts'
import { submitted } from './submitted.ts'
import { callerIdentity, health, ready, root, version } from './system.ts'
import { transaction, transactions } from './transactions.ts'
import { trustRecord, trustRecords } from './trust-records.ts'
import { verifierFile, verifierPage } from './verifier.ts'
import { deliveryHead, isProvider, receiveWebhook, WEBHOOK_BYTES_MAX } from './webhooks.ts'

const table = [
  { method: 'GET', path: '/', page: homePage, handle: root },
  { method: 'GET', path: '/health', open: true, limit: 'health', handle: health },
  { method: 'GET', path: '/ready', open: true, limit: 'health', handle: ready },
  { method: 'GET', path: '/version', handle: version },
  { method: 'GET', path: '/openapi.yaml', open: true, limit: 'public', handle: openapiYaml },
  { method: 'GET', path: '/openapi.json', open: true, limit: 'public', handle: openapiJson },
  { method: 'GET', path: '/api-manifest.json', open: true, limit: 'public', handle: manifest },
  { method: 'GET', path: '/keys/{keyId}', open: true, limit: 'public', handle: key },
  { method: 'GET', path: '/.well-known/jwks.json', open: true, limit: 'public', handle: keySet },
  { method: 'GET', path: '/callers/me', handle: callerIdentity },
  { method: 'GET', path: '/documentation', open: true, limit: 'public', handle: documentation },
  { method: 'GET', path: '/documentation/{asset}', open: true, limit: 'public', handle: documentationAsset },
  { method: 'GET', path: '/reference', open: true, limit: 'public', handle: reference },
  { method: 'GET', path: '/reference/{asset}', open: true, limit: 'public', handle: referenceAsset },
  { method: 'GET', path: '/handbook', open: true, limit: 'public', handle: handbook },
  { method: 'GET', path: '/handbook/{page}', open: true, limit: 'public', handle: handbookPage },
  { method: 'GET', path: '/verifier', open: true, limit: 'public', handle: verifierPage },
  {
    method: 'GET',
    path: '/verifier/countersign-verify.mjs',
    open: true,
    limit: 'public',
    handle: verifierFile,
  },

  { method: 'POST', path: '/execute', limit: 'execute', takesBody: true, handle: submitted('execute') },
  {
    method: 'POST',
    path: '/transactions',
    limit: 'execute',
    takesBody: true,
    handle: submitted('execute', { as: 201 }),
  },
  { method: 'GET', path: '/transactions', cost: 'compute', handle: transactions },
  { method: 'GET', path: '/transactions/{id}', handle: transaction },

  { method: 'POST', path: '/verify', cost: 'compute', takesBody: true, handle: submitted('verify') },
  { method: 'GET', path: '/verification/{id}', handle: latestVerification },
  { method: 'GET', path: '/verifications/{id}', cost: 'compute', handle: listOf('verifications') },
  { method: 'POST', path: '/receipt', cost: 'compute', takesBody: true, handle: submitted('receipt') },
  { method: 'GET', path: '/receipt/latest/{id}', handle: latestReceipt },
  { method: 'GET', path: '/receipts/{id}', cost: 'compute', handle: listOf('receipts') },
  { method: 'POST', path: '/replay', cost: 'compute', takesBody: true, handle: submitted('replay') },
  { method: 'GET', path: '/trust-records', cost: 'compute', handle: trustRecords },
  { method: 'GET', path: '/trust-records/{id}', handle: trustRecord },

  {
    method: 'POST',
    path: '/policies/validate',
    takesBody: true,
    // Two names, read on the main thread.
    bodyBytesMax: 16 * 1024,
    failureBody: validityBody,
    handle: validatePolicy,
  },
  { method: 'GET', path: '/policies', handle: policies },
  { method: 'GET', path: '/policies/in-effect', handle: policiesInEffect },
  { method: 'GET', path: '/policies/pending-changes', human: true, handle: listChanges('policy') },
  // Before {name}/{version}, which would take it: the first row that fits is the route.
  { method: 'GET', path: '/policies/pending-changes/{id}', human: true, handle: showChange('policy') },
  {
    method: 'POST',
    path: '/policies/pending-changes/{id}/approve',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: resolveChange('policy', 'approve'),
  },
  {
    method: 'POST',
    path: '/policies/pending-changes/{id}/reject',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: resolveChange('policy', 'reject'),
  },
  { method: 'GET', path: '/policies/{name}/{version}', handle: showPolicy },
  {
    method: 'POST',
    path: '/policies/{name}/{version}/pending-changes',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: proposeChange('policy'),
  },

  // Open: the signature is the authentication (interface §6), and the reason for no limiter stands in webhooks.ts.
  {
    method: 'POST',
    path: '/webhooks/{provider}',
    open: true,
    mounted: isProvider,
    fromHead: deliveryHead,
    cost: 'compute',
    takesBody: true,
    bodyBytesMax: WEBHOOK_BYTES_MAX,
    handle: receiveWebhook,
  },

  { method: 'GET', path: '/approvers', human: true, handle: approvers },
  {
    method: 'POST',
    path: '/approvers/changes',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: proposeChange('approver'),
  },
  { method: 'GET', path: '/approvers/changes', human: true, handle: listChanges('approver') },
  { method: 'GET', path: '/approvers/changes/{id}', human: true, handle: showChange('approver') },
  {
    method: 'POST',
    path: '/approvers/changes/{id}/approve',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: resolveChange('approver', 'approve'),
  },
  {
    method: 'POST',
    path: '/approvers/changes/{id}/reject',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: resolveChange('approver', 'reject'),
  },

  { method: 'GET', path: '/external-connectors', human: true, handle: externalConnectors },
  {
    method: 'POST',
    path: '/external-connectors/changes',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: proposeChange('external-connector'),
  },
  {
    method: 'GET',
    path: '/external-connectors/changes',
    human: true,
    handle: listChanges('external-connector'),
  },
  {
    method: 'GET',
    path: '/external-connectors/changes/{id}',
    human: true,
    handle: showChange('external-connector'),
  },
  {
    method: 'POST',
    path: '/external-connectors/changes/{id}/approve',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: resolveChange('external-connector', 'approve'),
  },
  {
    method: 'POST',
    path: '/external-connectors/changes/{id}/reject',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: resolveChange('external-connector', 'reject'),
  },

  {
    method: 'POST',
    path: '/approvals',
    cost: 'compute',
    takesBody: true,
    handle: submitted('deliver-approval', { as: 201 }),
  },
  { method: 'GET', path: '/approvals', human: true, handle: approvals },
  { method: 'GET', path: '/approvals/{id}', human: true, handle: approval },

  { method: 'GET', path: '/execution-intents/unfinalized', human: true, handle: unfinalizedIntents },
  { method: 'GET', path: '/execution-intents/{id}', handle: executionIntent },
  {
    method: 'POST',
    path: '/execution-intents/{id}/finalize',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: submitted('finalize-intent'),
  },
  {
    method: 'POST',
    path: '/execution-intents/{id}/resolve',
    human: true,
    cost: 'administration',
    takesBody: true,
    handle: submitted('resolve-intent'),
  },

  {
    method: 'POST',
    path: '/sandbox/evaluate',
    cost: 'compute',
    takesBody: true,
    handle: submitted('evaluate'),
  },
  {
    method: 'POST',
    path: '/sandbox/policies/simulate',
    cost: 'compute',
    takesBody: true,
    handle: submitted('simulate'),
  },

  { method: 'GET', path: '/refusal/{businessTransactionId}', handle: refusal },
  {
    method: 'POST',
    path: '/refusal/verify',
    open: true,
    limit: 'public',
    cost: 'compute',
    takesBody: true,
    handle: submitted('verify-refusal'),
  },
  { method: 'GET', path: '/audit/events', cost: 'compute', handle: auditEvents },
  {
    method: 'POST',
    path: '/audit/verify',
    open: true,
    limit: 'public',
    cost: 'compute',
    takesBody: true,
    handle: submitted('verify-audit-event'),
  },
] as const satisfies readonly Route[]

export const routes: readonly Route[] = table

/** `METHOD /path` of each row. */
export type RouteName = RouteNameOf<(typeof table)[number]>
type RouteNameOf<R extends Route> = R extends unknown ? `${R['method']} ${R['path']}` : never
