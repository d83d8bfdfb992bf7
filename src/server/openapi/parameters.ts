// Parameters that several operations have (decisions §5).
import { Type } from 'typebox'
import { NonEmptyText, Timestamp } from '../../formats/schemas/primitives.ts'

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

/** The query parameter that a `Link` header sets. */
export const cursor = {
  cursor: { schema: Type.String(), description: 'The cursor in a `Link`: the end of the previous page.' },
}

/** A page that ends before `pageSize` because its bytes reach 4 MiB has a `Link` too. */
export const linkedPaging = { ...paging, ...cursor }

/** The failures of a list that takes `linkedPaging`. */
export const listFailures = ['invalidPage', 'invalidPageSize', 'overloaded'] as const

export const timeRange = {
  since: { schema: Timestamp, description: 'Only entries from this time on.' },
  until: { schema: Timestamp, description: 'Only entries before this time.' },
}

/** A filter by a name. @param what completes "Only …" */
export const equalText = (what: string) => ({
  schema: NonEmptyText,
  description: `Only ${what}; letter case is ignored.`,
})

export const partOfWord = {
  schema: Type.String({ minLength: 3, maxLength: 100 }),
  description:
    'A part of a word of the action, the target or a parameter, or the beginning of an id; letter case is ignored.',
  mustBe: '3 to 100 characters',
}

/** For callers who read all entries; any other caller gets its own entries, or an empty page. */
export const ofCaller = {
  callerId: { schema: NonEmptyText, description: 'Only entries of this caller.' },
}

/** Takes any text: one that is not a UUID is answered 404 like an unknown id. */
export const transactionId = (example: string) => ({
  schema: NonEmptyText,
  description: 'A businessTransactionId.',
  example,
})
