// The catalogue of executions, for people who search (docs/handbook/finding.md).
import { Type } from 'typebox'
import { resolutions } from './intent-states.ts'
import { Instant, NonEmptyText, Text, Uuid } from './primitives.ts'

export const catalogueStatuses = ['completed', 'failed', 'refused', 'in_doubt'] as const
export type CatalogueStatus = (typeof catalogueStatuses)[number]

export const CatalogueEntry = Type.Object({
  businessTransactionId: Uuid,
  status: Type.Enum([...catalogueStatuses]),
  resolution: Type.Optional(
    Type.Enum([...resolutions], { description: "where somebody's word closed it: what that word said" }),
  ),
  decidedAt: Instant,
  completedAt: Type.Optional(Instant),
  callerId: NonEmptyText,
  principalId: NonEmptyText,
  capability: NonEmptyText,
  target: NonEmptyText,
  policyName: NonEmptyText,
  policyVersion: NonEmptyText,
  rule: Type.Optional(Type.String({ description: 'the id of the rule that decided' })),
  summary: Type.Optional(Type.String({ description: "the action in its policy's words (`display`)" })),
  amount: Type.Optional(Type.Number({ description: 'as the policy reads it (`display`)' })),
  currency: Type.Optional(Text),
  requestId: Type.Optional(
    Type.String({ ...Uuid, description: 'the approval request whose approvals it used up' }),
  ),
  approvable: Type.Optional(
    Type.Boolean({
      description:
        'of a refusal: whether approvals would have lifted it, as its Refusal Record says. Absent of what was not refused',
    }),
  ),
  contradicted: Type.Optional(
    Type.Literal(true, {
      description: "a provider's delivery says otherwise. Absent where none does",
    }),
  ),
})

/** The period that a reply from the catalogue covers. */
export const completeness = {
  completeUntil: Type.Union([Instant, Type.Null()], {
    description:
      'everything that was stored until then is in the reply; null: nothing is in the catalogue yet',
  }),
  completeSince: Type.Union([Instant, Type.Null()], {
    description:
      'executions that were decided before are not in the catalogue: they were pruned, or it is still being built. Null: there are none',
  }),
}

export const CataloguePage = Type.Object({ executions: Type.Array(CatalogueEntry), ...completeness })
