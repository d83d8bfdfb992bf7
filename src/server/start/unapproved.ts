// Unapproved documents of the release: after an upgrade they look as if they were in effect. Computed at each call,
// because an approval takes effect without a restart.
import type { AuthorityState } from '../../core/callers/authority-state.ts'

/** The documents in the folders of this instance. */
export interface ShippedDocuments {
  readonly policies: readonly { readonly name: string; readonly version: string }[]
  /** Providers that have rules and whose deliveries are taken. */
  readonly ruledProviders: readonly string[]
}

/** @returns sentences for the log of the start, GET /ready and the console */
export function unapproved(
  { policies, ruledProviders }: ShippedDocuments,
  state: Pick<AuthorityState, 'policies' | 'webhookRules'>,
): string[] {
  const waiting = policies.filter(({ name, version }) =>
    state.policies.some((row) => row.name === name && row.version === version && row.approvedBy === null),
  )
  const names = waiting.map(({ name, version }) => `${name} ${version}`).join(', ')
  const rules = ruledProviders.filter(
    (provider) => !state.webhookRules.some((row) => row.provider === provider),
  )
  return [
    ...(waiting.length === 0
      ? []
      : [`These policies are not approved, and executions under them are rejected: ${names}.`]),
    ...rules.map(
      (provider) => `Webhook rules of '${provider}' are loaded, and not approved: they are not in effect.`,
    ),
  ]
}
