// A valid policy document, and what compiling a changed one says.
import { compilePolicy, type CompiledPolicy } from '../../src/core/policy/check.ts'
import { DocumentError } from '../../src/core/cel/mistakes.ts'
import type { PolicySubject } from '../../src/core/policy/evaluate.ts'

const FILE = 'test/1.0.0/policy.yaml'

export function aDocument(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    policyId: 'test',
    policyVersion: '1.0.0',
    schemaVersion: '1.0.0',
    description: 'For tests.',
    capabilities: ['test:run'],
    signals: { approved: 'boolean', amount: 'number', limit: 'number' },
    rules: [aRule()],
    ...changes,
  }
}

export function aRule(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.', ...changes }
}

/** A policy whose one rule approves when `when` holds. */
export function aPolicyThat(when: string, changes: Record<string, unknown> = {}): CompiledPolicy {
  return compilePolicy(aDocument({ rules: [aRule({ when })], ...changes }), FILE).policy
}

/** Several rules of these conditions: `r0`, `r1`, … */
export function rules(...whens: string[]): Record<string, unknown> {
  return aDocument({ rules: whens.map((when, i) => aRule({ id: `r${i}`, when })) })
}

/** The lines of the refusal; empty when the document compiles. */
export function refusalOf(document: unknown): string[] {
  try {
    compilePolicy(document, FILE)
    return []
  } catch (error) {
    if (error instanceof DocumentError) return error.message.split('\n')
    throw error
  }
}

export function warningsOf(document: unknown): string[] {
  return compilePolicy(document, FILE).warnings
}

export function aSubject({
  intent = {},
  ...changes
}: Partial<Omit<PolicySubject, 'intent'>> & {
  intent?: Partial<PolicySubject['intent']>
} = {}): PolicySubject {
  return {
    intent: { action: 'test:run', target: 'somewhere', parameters: {}, ...intent },
    authority: { principalId: 'ada', issuedAt: '2026-03-02T09:00:00Z' },
    metadata: { submittedBy: 'ada' },
    signals: { approved: true, amount: 5, limit: 10 },
    ...changes,
  }
}
