// The rules of this thread for the deliveries of providers, compiled from the approved content in the database, never from the files.
import { DocumentError } from '../../src/core/cel/mistakes.ts'
import { compileWebhookRules, type WebhookRule } from '../../src/core/webhook-rules/parse.ts'
import type { WebhookRulesRow } from '../../src/store/tables/webhook-rules.ts'

interface RulesInEffect {
  /** SHA-256 of the rules' canonical text, hex, which a confirmation names. */
  readonly rulesHash: string
  readonly rules: readonly WebhookRule[]
}

export interface WebhookRules {
  /** Undefined: no rules are in effect for the provider. */
  find(provider: string): RulesInEffect | undefined
  /** Puts the rules in effect from now on. Contents that were compiled before are not compiled again. */
  replace(rows: readonly WebhookRulesRow[]): void
}

/** Compiles when rules are first looked for: most threads apply none. */
export function openWebhookRules(rows: readonly WebhookRulesRow[]): WebhookRules {
  let newest = rows
  let loaded: { readonly rows: readonly WebhookRulesRow[]; readonly byProvider: ByProvider } | undefined
  return {
    find(provider) {
      if (loaded?.rows !== newest)
        loaded = { rows: newest, byProvider: load(newest, loaded?.byProvider ?? new Map()) }
      return loaded.byProvider.get(provider)
    },
    replace(newRows) {
      newest = newRows
    },
  }
}

type ByProvider = ReadonlyMap<string, RulesInEffect>

function load(rows: readonly WebhookRulesRow[], before: ByProvider): ByProvider {
  const loaded = rows.flatMap((row): [string, RulesInEffect][] => {
    const known = before.get(row.provider)
    const rules = known?.rulesHash === row.rulesHash ? known : compiled(row)
    return rules === undefined ? [] : [[row.provider, rules]]
  })
  return new Map(loaded)
}

/** Undefined: written by another release, in words that this one does not know. */
function compiled({ provider, content }: WebhookRulesRow): RulesInEffect | undefined {
  try {
    return compileWebhookRules(JSON.parse(content), provider)
  } catch (error) {
    if (error instanceof DocumentError) return undefined
    throw error
  }
}
