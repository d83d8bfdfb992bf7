// The changes that the humans of the demo's month make, as bodies of the routes that propose them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { eventTypes } from '../../src/formats/schemas/event-types.ts'
import type { ChangeName } from './month.ts'
import type { Human } from './people.ts'

export interface ProposedChange {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** What another human does with it; `wait`: nothing yet. */
  readonly outcome: 'approve' | 'reject' | 'wait'
  /** The version that agents name once it is in effect. */
  readonly version?: { readonly policy: string; readonly version: string }
}

interface PolicyDocument {
  readonly signals: Readonly<Record<string, string>>
  readonly verify: Readonly<Record<string, object>>
  readonly rules: readonly { readonly id: string; readonly when: string; readonly reason: string }[]
  readonly [member: string]: unknown
}

function shipped(name: string, version: string): PolicyDocument {
  const file = join(import.meta.dirname, '..', '..', 'policies', name, version, 'policy.yaml')
  return parse(readFileSync(file, 'utf8')) as PolicyDocument
}

function aPolicy(
  content: PolicyDocument,
  {
    name,
    version,
    retires,
    reason,
    outcome = 'approve',
  }: {
    name: string
    version: string
    retires: readonly string[]
    reason: string
    outcome?: ProposedChange['outcome']
  },
): ProposedChange {
  return {
    path: `/policies/${name}/${version}/pending-changes`,
    body: {
      proposedContent: { ...content, policyVersion: version },
      ...(retires.length === 0 ? {} : { retires }),
      reason,
    },
    outcome,
    version: { policy: name, version },
  }
}

/** Refunds whose amounts the catalogue adds up. */
function refunds(): PolicyDocument {
  return {
    ...shipped('customer-refund', '2.0.0'),
    display: {
      'payments:refund': {
        text: 'Refund {intent.parameters.amount} {intent.parameters.currency} of order {intent.target} to {intent.parameters.customerId}.',
        amount: 'intent.parameters.amount',
        currency: 'intent.parameters.currency',
      },
    },
  }
}

function strictRefunds(content: PolicyDocument): PolicyDocument {
  const rules = content.rules.map((rule) =>
    rule.id === 'small' ? { ...rule, when: rule.when.replace('<= 100.0', '<= 50.0') } : rule,
  )
  return { ...content, rules }
}

function toolCalls(): PolicyDocument {
  return {
    ...shipped('llm-tool-call', '2.0.0'),
    display: {
      'llm:call-tool': {
        text: 'Run the tool {intent.target} for a language model, at a cost of {intent.parameters.cost} USD.',
        amount: 'intent.parameters.cost',
      },
    },
  }
}

function payments(): PolicyDocument {
  const { signals, verify, rules, ...content } = shipped('vendor-payment', '2.1.0')
  const limit = {
    id: 'vendor-limit',
    when: 'signals.paidToVendor + signals.paymentAmount > 100000.0',
    outcome: 'reject',
    reason: 'More than 100000 to one vendor in 24 hours.',
  }
  const at = rules.findIndex(({ id }) => id === 'not-approved')
  return {
    ...content,
    signals: { ...signals, paidToVendor: 'number' },
    verify: {
      ...verify,
      paidToVendor: {
        by: 'history',
        window: '24h',
        sum: 'intent.parameters.amount',
        per: ['target', 'intent.parameters.currency'],
      },
    },
    rules: rules.toSpliced(at, 0, limit),
  }
}

function anEndpoint(url: string, reason: string): ProposedChange {
  return {
    path: '/event-endpoints/changes',
    body: { action: 'register', url, types: [...eventTypes], reason },
    outcome: 'approve',
  }
}

export interface ChangeContext {
  readonly frank: Human
  /** Takes every event. */
  readonly healthyUrl: string
  /** Answers 500. */
  readonly failingUrl: string
  /** PEM of a key that nobody has enrolled. */
  readonly hanksPem: string
}

/** @returns by name what each change proposes */
export function changesOf(context: ChangeContext): Readonly<Record<ChangeName, ProposedChange>> {
  const name = 'customer-refund'
  return {
    'refund-3.0.0': aPolicy(refunds(), {
      name,
      version: '3.0.0',
      retires: ['2.0.0'],
      reason: 'Amounts can be added up.',
    }),
    'tool-call-3.0.0': aPolicy(toolCalls(), {
      name: 'llm-tool-call',
      version: '3.0.0',
      retires: ['2.0.0'],
      reason: 'What a call costs can be added up.',
    }),
    'payment-3.0.0': aPolicy(payments(), {
      name: 'vendor-payment',
      version: '3.0.0',
      retires: ['2.0.0', '2.1.0'],
      reason: 'At most 100000 to one vendor in a day, after the double payment of October.',
    }),
    'looser-refund': aPolicy(
      { ...refunds(), rules: refunds().rules.filter(({ id }) => id !== 'suspected-fraud') },
      { name, version: '3.0.1', retires: [], reason: 'Fewer refusals at the desk.', outcome: 'reject' },
    ),
    'revoke-frank': {
      path: '/approvers/changes',
      body: {
        action: 'revoke',
        approverId: 'frank',
        keyId: 'laptop',
        reason: 'The laptop was left on a train.',
      },
      outcome: 'approve',
    },
    'healthy-endpoint': anEndpoint(context.healthyUrl, 'The ledger follows along.'),
    'failing-endpoint': anEndpoint(context.failingUrl, 'The new dashboard.'),
    'refund-3.1.0': aPolicy(strictRefunds(refunds()), {
      name,
      version: '3.1.0',
      retires: ['3.0.0'],
      reason: 'Automatic only up to 50, before the holidays.',
      outcome: 'wait',
    }),
    'enrol-hank': {
      path: '/approvers/changes',
      body: {
        action: 'add',
        approverId: 'hank',
        keyId: 'laptop',
        publicKeyPem: context.hanksPem,
        reason: 'Hank takes over from Frank.',
      },
      outcome: 'wait',
    },
  }
}
