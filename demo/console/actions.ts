// What the agents of the demo's month ask for, one kind of action for each shipped policy: mostly what the policy approves, now and then what
// one of its rules refuses.
import type { Chance } from './chance.ts'
import type { AgentName } from './people.ts'

export interface Action {
  readonly by: AgentName
  readonly capability: string
  readonly target: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly signals: Readonly<Record<string, unknown>>
  readonly policy: string
}

const CURRENCIES = ['EUR', 'EUR', 'EUR', 'EUR', 'GBP', 'USD'] as const

export function aRefund(chance: Chance): Action {
  const amount = chance.money(32)
  const orderAmount = chance.happens(0.03) ? Math.round(amount * 60) / 100 : Math.round(amount * 140) / 100
  return {
    by: chance.pick(['refund-desk', 'refund-desk', 'support-bot']),
    capability: 'payments:refund',
    target: `order-${chance.whole(41_000, 98_999)}`,
    parameters: {
      amount,
      orderAmount,
      ...(chance.happens(0.01) ? {} : { currency: chance.pick(CURRENCIES) }),
      customerId: `customer-${chance.whole(1, 900)}`,
    },
    signals: {
      orderPaid: !chance.happens(0.02),
      orderAmount,
      fraudScore: chance.happens(0.03) ? chance.whole(71, 99) : chance.whole(0, 40),
    },
    policy: 'customer-refund',
  }
}

/** One that a person has to approve. */
export function aLargeRefund(chance: Chance): Action {
  const { parameters, signals, ...refund } = aRefund(chance)
  const amount = chance.whole(120, 900)
  const given = { amount, orderAmount: amount, currency: 'EUR', customerId: parameters['customerId'] }
  const checked = { ...signals, orderAmount: amount, orderPaid: true, fraudScore: 3 }
  return { ...refund, parameters: given, signals: checked }
}

export function aToolCall(chance: Chance): Action {
  const tool = chance.happens(0.02)
    ? 'run_shell'
    : chance.happens(0.04)
      ? 'send_email'
      : chance.pick(['search', 'search', 'read_document', 'calculate'])
  return {
    by: chance.pick(['research-agent', 'research-agent', 'support-assistant']),
    capability: 'llm:call-tool',
    target: tool,
    parameters: {
      cost: Math.max(10, Math.round(chance.money(0.9) * 100)) / 1_000,
      ...(tool === 'send_email' ? { to: 'team@example.com' } : { query: 'delivery times' }),
    },
    signals: {
      injectionScore: chance.happens(0.025) ? 0.83 : chance.whole(0, 30) / 100,
      personalData: tool === 'send_email' && chance.happens(0.2),
    },
    policy: 'llm-tool-call',
  }
}

export function anAccess(chance: Chance): Action {
  const takes = chance.happens(0.75)
  return {
    by: 'access-desk',
    capability: takes ? 'access:revoke' : 'access:grant',
    target: chance.pick(['billing', 'erp', 'warehouse', 'crm']),
    parameters: {
      principalId: `user-${chance.pick(['ada', 'grace', 'linus', 'barbara', 'edsger', 'donald'])}`,
      role: chance.pick(['reader', 'editor', 'operator']),
      durationHours: chance.pick([8, 24, 720]),
    },
    signals: { trainingCompleted: !chance.happens(0.2) },
    policy: 'access-control',
  }
}

export function aDatabaseChange(chance: Chance): Action {
  return {
    by: 'dba-agent',
    capability: 'database:change',
    target: chance.pick(['staging-orders', 'staging-orders', 'test-orders', 'test-customers', 'prod-orders']),
    parameters: {
      tables: [
        chance.happens(0.03) ? 'ledger' : chance.pick(['orders', 'order_lines', 'customers', 'prices']),
      ],
      rowsAffected: chance.whole(1, 40_000),
      destructive: false,
    },
    signals: { rehearsed: !chance.happens(0.04), backupVerified: true },
    policy: 'database-change',
  }
}

export function aSmokeTest(chance: Chance): Action {
  const amount = chance.happens(0.02) ? 1_500 : chance.whole(1, 200)
  return {
    by: 'smoke-test',
    capability: 'sandbox:echo',
    target: 'sandbox',
    parameters: { amount },
    signals: { approved: true, amount },
    policy: 'sandbox-echo',
  }
}

const VENDORS = Array.from({ length: 24 }, (_, i) => `vendor-${i + 11}`)

/** In any currency: two to one vendor in a day stay below what no approval helps above. */
const PAYMENT_MAX = 45_000

/** @param median what is paid mostly, in the payment's currency */
function aPayment(chance: Chance, median = 1_900): Action {
  const amount = Math.min(chance.money(median, 0.9), PAYMENT_MAX)
  return {
    by: chance.pick(['paying-agent', 'paying-agent', 'treasury-agent']),
    capability: 'vendor:pay',
    target: chance.pick(VENDORS),
    parameters: {
      amount,
      currency: chance.pick(CURRENCIES),
      invoice: `INV-2026-${chance.whole(100, 999)}`,
    },
    signals: { vendorVerified: true, paymentAmount: amount, riskScore: chance.whole(0, 18) },
    policy: 'vendor-payment',
  }
}

/** One that a person may approve, whatever the seed and the day: each vendor in its turn, so that what a vendor gets in a day has room. */
export function aPaymentToApprove(chance: Chance, number: number): Action {
  const large = number % 9 === 5
  return { ...aPayment(chance, large ? 21_000 : undefined), target: VENDORS[number % VENDORS.length]! }
}

/** One that is refused whoever approves it, or that nobody was asked to approve. */
export function aHopelessPayment(chance: Chance): Action {
  const { signals, ...payment } = aPayment(chance)
  const wrong = chance.pick([{ riskScore: chance.whole(21, 90) }, { vendorVerified: false }, {}])
  return { ...payment, signals: { ...signals, ...wrong } }
}

export function aRelease(chance: Chance): Action {
  return {
    by: 'deploy-bot',
    capability: 'deployment:release',
    target: chance.pick(['checkout', 'search', 'accounts']),
    parameters: {
      build: chance.whole(0x1000000, 0xfffffff).toString(16),
      trafficPercent: chance.pick([10, 10, 50, 100]),
      kind: 'feature',
    },
    signals: {
      testsPassed: !chance.happens(0.1),
      criticalVulnerabilities: chance.happens(0.06) ? 1 : 0,
      canaryErrorRate: chance.happens(0.1) ? 3 : 0.2,
      errorBudgetLeft: 60,
    },
    policy: 'production-deployment',
  }
}
