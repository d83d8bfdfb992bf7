// Valid rules of one provider, a delivery that the first of them takes, and what the parser says of changed ones.
import { DocumentError } from '../../src/core/cel/mistakes.ts'
import { compileWebhookRules, type WebhookRule } from '../../src/core/webhook-rules/parse.ts'

export const TRANSACTION = '7d9f2c1e-5b64-4a3f-9e0d-2c8b7a6f5e41'

export function aRule(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'paid',
    when: "payload.event == 'paid'",
    transaction: 'payload.reference',
    says: 'executed',
    ...changes,
  }
}

export function aDocument(...rules: Record<string, unknown>[]): Record<string, unknown> {
  return { provider: 'acme', rules: rules.length === 0 ? [aRule()] : rules }
}

export function compiled(...rules: Record<string, unknown>[]): readonly WebhookRule[] {
  return compileWebhookRules(aDocument(...rules), 'acme.yaml').rules
}

/** The lines of the refusal; empty where the document compiles. */
export function refusalOf(document: unknown): string[] {
  try {
    compileWebhookRules(document, 'acme.yaml')
    return []
  } catch (error) {
    if (error instanceof DocumentError) return error.message.split('\n')
    throw error
  }
}

export function aDelivery(payload: unknown = {}, headers: Record<string, string> = {}) {
  const usual = { event: 'paid', reference: TRANSACTION }
  return { payload: isMembers(payload) ? { ...usual, ...payload } : payload, headers }
}

function isMembers(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
