// Policy versions (interface §4.4, decisions §7) and changes of them.
import { PolicyValidity, PolicyVersion } from '../../../core/schemas/error.ts'
import { PolicyDetail, PolicyPage, PolicyProposal } from '../../../core/schemas/policy-version.ts'
import { NonEmptyText } from '../../../core/schemas/primitives.ts'
import policyChange from '../examples/policy-change.json' with { type: 'json' }
import type { Operation } from '../operation.ts'
import { paging } from '../parameters.ts'
import { approving, listing, proposing, rejecting, showing } from './changes.ts'

const words = { noun: 'a policy', name: 'Policy' }
const { reason, proposed: proposedContent } = policyChange.pending

const version = (example: string) => ({
  name: { schema: NonEmptyText, description: 'Its policyId.', example: 'sandbox-echo' },
  version: { schema: NonEmptyText, description: 'Its policyVersion.', example },
})

const summary = {
  name: 'sandbox-echo',
  version: '1.0.0',
  status: 'APPROVED',
  contentHash: '6e98d5d0dd50cca7607223d2d9100ae8654d3f9213794eae4ccc02e81f2b5eea',
  approvedBy: 'genesis',
  approvedAt: '2026-11-21T14:30:00.000Z',
  description: 'Echoes parameters in the sandbox; nothing outside is touched.',
  capabilities: ['sandbox:echo'],
}

export const policies = {
  'GET /policies': {
    operationId: 'listPolicies',
    tag: 'Policies',
    summary: 'Every policy version',
    query: {
      ...paging,
      page: { ...paging.page, description: 'From 1, by name, the highest version first.' },
    },
    answers: {
      200: { description: 'One page.', schema: PolicyPage, example: { policies: [summary] } },
    },
    failures: ['invalidPage', 'invalidPageSize', 'overloaded'],
  },
  'GET /policies/in-effect': {
    operationId: 'listPoliciesInEffect',
    tag: 'Policies',
    summary: 'Approved policy versions',
    query: {
      ...paging,
      capability: { schema: NonEmptyText, description: 'Only versions that govern this action.' },
    },
    answers: {
      200: {
        description: 'One page, the newest approval first.',
        schema: PolicyPage,
        example: { policies: [summary] },
      },
    },
    failures: ['invalidPage', 'invalidPageSize', 'overloaded'],
  },
  'GET /policies/pending-changes': listing(words, policyChange),
  'GET /policies/pending-changes/{id}': showing(words, policyChange),
  'POST /policies/pending-changes/{id}/approve': approving(words, policyChange),
  'POST /policies/pending-changes/{id}/reject': rejecting(words, policyChange),
  'GET /policies/{name}/{version}': {
    operationId: 'getPolicy',
    tag: 'Policies',
    summary: 'One policy version',
    description: 'Its document, who approved it, and what a caller has to send.',
    params: version('1.0.0'),
    answers: {
      200: {
        description: 'As it stands.',
        schema: PolicyDetail,
        example: {
          ...summary,
          toSend: [
            { signal: 'amount', type: 'number', mustEqual: 'intent.parameters.amount' },
            { signal: 'approved', type: 'boolean' },
          ],
          document: {
            bindings: { amount: 'intent.parameters.amount' },
            capabilities: ['sandbox:echo'],
            description: 'Echoes parameters in the sandbox; nothing outside is touched.',
            policyId: 'sandbox-echo',
            policyVersion: '1.0.0',
            rules: [
              {
                id: 'too-large',
                outcome: 'reject',
                reason: 'Amount above 1000.',
                when: 'signals.amount > 1000.0',
              },
              {
                id: 'approved',
                outcome: 'approve',
                reason: 'Approved in the sandbox.',
                when: 'signals.approved',
              },
            ],
            schemaVersion: '1.0.0',
            signals: { amount: 'number', approved: 'boolean' },
          },
        },
      },
    },
    failures: ['policyNotFound', 'overloaded'],
  },
  'POST /policies/{name}/{version}/pending-changes': {
    ...proposing(words, policyChange, {
      params: version('1.1.0'),
      body: { schema: PolicyProposal, example: { reason, proposedContent } },
      description:
        'Without `proposedContent`, a version that is loaded and not yet approved is proposed as it stands. An approved version never changes.',
    }),
    failures: ['fieldRequired', 'invalidField', 'policyNotFound', 'conflict'],
  },
  'POST /policies/validate': {
    operationId: 'validatePolicy',
    tag: 'Policies',
    summary: 'Whether a policy version can be loaded',
    description: 'Validates no document. Every answer but the 401 is `{valid, errors}`.',
    body: { schema: PolicyVersion, example: { policyId: 'sandbox-echo', policyVersion: '1.0.0' } },
    answers: {
      200: { description: 'It can.', schema: PolicyValidity, example: { valid: true, errors: [] } },
    },
    failures: ['fieldRequired', 'policyNotFound', 'internal'],
  },
} as const satisfies Record<string, Operation>
