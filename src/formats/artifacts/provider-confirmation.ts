// A provider's confirmation, stored as `{confirmation, signature}`, and its contradictions to a record.
import type { Json } from '../json/canonical.ts'
import { check, itemsOf, list, members, string } from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { executionStreams, ownerOfExecution } from './execution-streams.ts'
import { enveloped, type ArtifactKind } from './kind.ts'
import { cut } from '../text/text.ts'
import { membersAt, TEXT_MAX, textAt, type ProviderWord } from './account-text.ts'

const SAYS = ['executed', 'not_executed', 'pending']
const TEXTS = ['confirmationId', 'businessTransactionId', 'provider', 'eventId', 'ruleId', 'receivedAt']
const HASHES = ['deliveryHash', 'rulesHash']

function isWhole(value: Json | undefined): boolean {
  const confirmation = members(value)
  return (
    SAYS.some((known) => known === confirmation['says']) &&
    TEXTS.every((name) => string(confirmation[name]) !== '') &&
    HASHES.every((name) => /^[0-9a-f]{64}$/.test(string(confirmation[name]))) &&
    list(confirmation['comparisons']).map(members).every(isComparison)
  )
}

function isComparison({ expression, holds }: { readonly [name: string]: Json }): boolean {
  return string(expression) !== '' && typeof holds === 'boolean'
}

/**
 * Notes facts that a reader should know of a confirmation that passes its checks.
 * @param status execution's status in the record that contains it; left out: the confirmation is not in a record
 */
export function notesOnConfirmation(confirmation: Json | undefined, status?: Json): string[] {
  if (!isMembers(confirmation)) return []
  const { provider, says, comparisons } = confirmation
  if (typeof provider !== 'string' || typeof says !== 'string') return []
  const named = JSON.stringify(provider)
  const contradicts =
    (status === 'COMPLETED' && says === 'not_executed') || (status === 'FAILED' && says === 'executed')
  return [
    ...(contradicts ? [`The provider ${named} says ${says}, and the record says ${status}.`] : []),
    ...itemsOf(comparisons).flatMap((one) =>
      isMembers(one) && one['holds'] === false && typeof one['expression'] === 'string'
        ? [
            `A comparison of the confirmation by ${named} does not hold: ${JSON.stringify(one['expression'])}.`,
          ]
        : [],
    ),
  ]
}

/** The statement of a confirmation, which may have any shape. */
export function wordOf(confirmation: Members): ProviderWord {
  const text = (name: string) => cut(textAt(confirmation, name), TEXT_MAX)
  const differing = itemsOf(confirmation['comparisons']).flatMap((one) =>
    isMembers(one) && one['holds'] === false ? [cut(textAt(one, 'expression'), TEXT_MAX)] : [],
  )
  return {
    confirmationId: text('confirmationId'),
    provider: text('provider'),
    says: text('says'),
    at: text('receivedAt'),
    differing,
  }
}

export const providerConfirmation = {
  name: 'provider-confirmation',
  times: ['receivedAt'],
  logged: {
    kind: 'provider-confirmation',
    event: 'confirmation.received',
    counted(_, { caller, transaction, isReleased }) {
      const { capability } = executionStreams({ caller, transaction })
      return { streams: isReleased ? { caller, capability } : { caller } }
    },
  },
  stored: {
    table: 'provider_confirmations',
    id: 'confirmationId',
    at: 'at',
    columns: {
      confirmationId: 'uuid',
      businessTransactionId: 'uuid',
      provider: 'text',
      /** Key of the delivery in webhook_events. */
      eventKey: 'uuid',
      rulesHash: 'text',
      at: 'timestamptz',
    },
    owner: ownerOfExecution,
    joined: true,
    envelope: 'confirmation',
  },
  evidence: {
    ...enveloped({
      artifact: 'provider-confirmation',
      member: 'confirmation',
      id: 'confirmationId',
      problem: 'The signature of the confirmation is not valid',
      own: (confirmation) => [
        check('confirmation', 'The confirmation is not one that the service makes', () =>
          isWhole(confirmation),
        ),
      ],
    }),
    notesOn: ({ confirmation }) => notesOnConfirmation(confirmation),
    title: 'Confirmation of a provider',
    plainTitle: 'Statement of a provider',
    account: (evidence) => {
      const confirmation = membersAt(evidence, 'confirmation')
      return {
        execution: textAt(confirmation, 'businessTransactionId'),
        words: [wordOf(confirmation)],
        said: {
          Execution: textAt(confirmation, 'businessTransactionId'),
          'What the provider says': textAt(confirmation, 'says'),
          Provider: textAt(confirmation, 'provider'),
          When: textAt(confirmation, 'receivedAt'),
        },
      }
    },
    notProven: [
      'That the effect happened or did not: it is what the provider said, as the rule in effect read its delivery.',
      'That the delivery said so: the confirmation names its SHA-256, and the delivery is not in it.',
      'That the rule was right: compare rulesHash with the rules that you expect.',
      'That the provider said nothing else before or after: each confirmation is signed on its own.',
    ],
  },
  feed: {
    types: ['confirmation.received'],
    details: (
      { businessTransactionId, provider, says, deliveryHash, receivedAt },
      { id: confirmationId },
    ) => ({
      occurredAt: receivedAt!,
      businessTransactionId,
      confirmationId,
      provider,
      says,
      deliveryHash,
    }),
  },
} as const satisfies ArtifactKind
