// Parameters that several operations have (decisions §5).
import { Type } from 'typebox'
import { NonEmptyText, Timestamp } from '../../core/schemas/primitives.ts'

export const paging = {
  page: {
    schema: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
    description: 'From 1, newest first.',
  },
  pageSize: {
    schema: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
    description: 'Entries of a page.',
  },
}

/** Where a `Link` leads. */
export const cursor = {
  cursor: { schema: Type.String(), description: 'Of a `Link`; where the page before ended.' },
}

/** A page that ends before `pageSize` because its bytes reach 4 MiB has a `Link` too. */
export const linkedPaging = { ...paging, ...cursor }

export const timeRange = {
  since: { schema: Timestamp, description: 'Nothing older than this time.' },
  until: { schema: Timestamp, description: 'Only what is older than this time.' },
}

/** Any text may be asked for: what is no id is the id of nothing, a 404. */
export const transactionId = (example: string) => ({
  schema: NonEmptyText,
  description: 'A businessTransactionId.',
  example,
})
