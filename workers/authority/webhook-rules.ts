// Changes of the rules for a provider's deliveries: a list that is proposed whole, or the one that a file holds.
import type { Static } from 'typebox'
import { mistakesAs400 } from '../../src/core/cel/mistakes.ts'
import { diffDocuments } from '../../src/core/cel/diff.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import {
  WebhookRulesProposalRead,
  type WebhookRulesDocument,
} from '../../src/formats/schemas/webhook-rules.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { begin, end, inEffect } from '../../src/store/tables/authority.ts'
import { readWebhookRules, type StoredWebhookRules } from '../../src/store/tables/webhook-rules.ts'
import { compileWebhookRules, type CompiledWebhookRules } from '../../src/core/webhook-rules/parse.ts'
import type { ChangeKind } from './change-kind.ts'

const proposalOf = bodyOf(WebhookRulesProposalRead)

interface Proposed {
  readonly provider: string
  /** Null: the rules of the file, until it is known that it has some. */
  readonly rules: WebhookRulesDocument['rules'] | null
}

/** @param options.hasSecret whether deliveries of a provider are taken */
export function webhookRuleChanges({
  hasSecret,
}: {
  hasSecret: (provider: string) => boolean
}): ChangeKind<Proposed> {
  return {
    read(body) {
      const proposal: Static<typeof WebhookRulesProposalRead> | Failure = proposalOf(body)
      if (proposal instanceof Failure) return proposal
      const { provider, rules, reason } = proposal
      if (rules === undefined) return { target: provider, proposed: { provider, rules: null }, reason }
      const compiled = mistakesAs400(() => compileWebhookRules({ provider, rules }, 'rules'))
      if (compiled instanceof Failure) return compiled
      const { document } = compiled
      return { target: provider, proposed: document, reason, warnings: warningsOf(compiled) }
    },

    async examine({ proposed: { provider, rules }, warnings }, sql) {
      const versions = await versionsOf(provider, sql)
      const found = rules === null ? fromFile(provider, versions) : posted({ provider, rules }, warnings)
      if (found instanceof Failure) return found
      const { document: proposed, warnings: due } = found
      const [current] = versions.filter(({ approvedBy }) => approvedBy !== null)
      if (current === undefined) return { proposed, warnings: due }
      if (current.content === canonicalize(proposed)) return alreadyInEffect(provider)
      const before = JSON.parse(current.content) as WebhookRulesDocument
      const diff = { against: current.rulesHash, ...diffDocuments(placesOf(before), placesOf(proposed)) }
      return { proposed, warnings: due, diff }
    },

    async apply(change, sql) {
      const { target: provider, proposed } = change
      const [standing] = await inEffect(sql, 'webhook-rules', provider)
      if (standing?.stated === canonicalize({ ...proposed })) return alreadyInEffect(provider)
      if (standing !== undefined && (standing.beganAt ?? '') >= change.at)
        return failures.conflict(
          `Rules of ${provider} were approved at a time that this instance's clock has not reached.`,
        )
      // The rules that these replace.
      await end(sql, 'webhook-rules', { ...change, targets: [provider] })
      const isBegun = await begin(sql, 'webhook-rules', change)
      return isBegun ? undefined : failures.conflict(`Rules of ${provider} have been changed meanwhile.`)
    },
  }

  function fromFile(
    provider: string,
    versions: readonly StoredWebhookRules[],
  ): { readonly document: WebhookRulesDocument; readonly warnings: readonly string[] } | Failure {
    const loaded = versions.find(({ approvedBy }) => approvedBy === null)
    if (loaded === undefined)
      return failures.invalidField(
        `rules is required: no file holds rules of ${provider} that are not approved.`,
      )
    const compiled = mistakesAs400(() => compileWebhookRules(JSON.parse(loaded.content), 'rules'))
    return compiled instanceof Failure
      ? compiled
      : { document: compiled.document, warnings: warningsOf(compiled) }
  }

  /** @param warnings the warnings of its body; undefined: it is examined again, without a body */
  function posted(document: WebhookRulesDocument, warnings: readonly string[] | undefined) {
    if (warnings !== undefined) return { document, warnings }
    const compiled = mistakesAs400(() => compileWebhookRules(document, 'rules'))
    return compiled instanceof Failure ? compiled : { document, warnings: warningsOf(compiled) }
  }

  function warningsOf({ document, warnings }: CompiledWebhookRules): string[] {
    const { provider, rules } = document
    return [
      ...warnings,
      ...(rules.length === 0 ? ['The list is empty: no delivery will close anything.'] : []),
      ...(hasSecret(provider)
        ? []
        : [`No secret of ${provider} is configured: this service takes none of its deliveries.`]),
    ]
  }
}

/** Newest approval first; unapproved ones last. */
async function versionsOf(provider: string, sql: Sql): Promise<StoredWebhookRules[]> {
  return (await readWebhookRules(sql)).filter((row) => row.provider === provider)
}

function placesOf({ rules }: WebhookRulesDocument) {
  return { places: {}, rules }
}

function alreadyInEffect(provider: string): Failure {
  return failures.conflict(`These rules of ${provider} are in effect already.`)
}
