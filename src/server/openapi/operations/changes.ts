// The five operations of maker/checker changes (decisions §7), alike for every kind; what differs are words and examples.
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import {
  Change,
  ChangeApproval,
  ChangePage,
  ChangeRejection,
  changeStatuses,
} from '../../../core/schemas/governance.ts'
import { Uuid } from '../../../core/schemas/primitives.ts'
import type { Operation } from '../operation.ts'
import { linkedPaging } from '../parameters.ts'

/** A kind's words: "a change of <noun>", and the end of its operationIds. */
interface Words {
  readonly noun: string
  readonly name: string
}

/** One change as it is proposed, and each way in which it can end. */
interface Example {
  readonly pending: { readonly changeId: string }
  readonly approve: object
  readonly approved: object
  readonly reject: object
  readonly rejected: object
}

const forHumans = 'For humans.'

export function proposing(
  { noun, name }: Words,
  example: Example,
  asked: Pick<Operation, 'params'> & { body: { schema: TSchema; example: unknown }; description: string },
) {
  return {
    operationId: `propose${name}Change`,
    tag: 'Governance',
    summary: `Propose a change of ${noun}`,
    description: `${forHumans} ${asked.description}`,
    ...(asked.params === undefined ? {} : { params: asked.params }),
    body: asked.body,
    answers: {
      201: { description: 'What another human has to resolve.', schema: Change, example: example.pending },
    },
    failures: ['fieldRequired', 'invalidField', 'conflict'],
    readsDatabase: true,
  } as const satisfies Operation
}

export function listing({ noun, name }: Words, example: Example) {
  return {
    operationId: `list${name}Changes`,
    tag: 'Governance',
    summary: `Changes of ${noun}`,
    description: forHumans,
    query: {
      ...linkedPaging,
      status: { schema: Type.Enum([...changeStatuses]), description: 'Only changes that stand so.' },
    },
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: ChangePage,
        example: { changes: [example.pending] },
        optionalHeaders: ['Link'],
      },
    },
    failures: ['invalidPage', 'invalidPageSize', 'invalidQuery', 'overloaded'],
    readsDatabase: true,
  } as const satisfies Operation
}

export function showing({ noun, name }: Words, example: Example) {
  return {
    operationId: `get${name}Change`,
    tag: 'Governance',
    summary: `One change of ${noun}`,
    description: forHumans,
    params: { id: changeId(example) },
    answers: {
      200: { description: 'As it stands, and signed so.', schema: Change, example: example.approved },
    },
    failures: ['changeNotFound', 'overloaded'],
    readsDatabase: true,
  } as const satisfies Operation
}

export function approving({ noun, name }: Words, example: Example) {
  return {
    operationId: `approve${name}Change`,
    tag: 'Governance',
    summary: `Approve a change of ${noun}`,
    description: `${forHumans} In effect on every instance within a second. Not for who proposed it.`,
    params: { id: changeId(example) },
    body: { schema: ChangeApproval, example: example.approve },
    answers: { 200: { description: 'Approved.', schema: Change, example: example.approved } },
    failures: ['invalidField', 'changeNotFound', 'sameActor', 'stepUpInvalid', 'conflict'],
    readsDatabase: true,
  } as const satisfies Operation
}

export function rejecting({ noun, name }: Words, example: Example) {
  return {
    operationId: `reject${name}Change`,
    tag: 'Governance',
    summary: `Reject a change of ${noun}`,
    description: `${forHumans} Not for who proposed it.`,
    params: { id: changeId(example) },
    body: { schema: ChangeRejection, example: example.reject },
    answers: { 200: { description: 'Rejected.', schema: Change, example: example.rejected } },
    failures: ['fieldRequired', 'invalidField', 'changeNotFound', 'sameActor', 'stepUpInvalid', 'conflict'],
    readsDatabase: true,
  } as const satisfies Operation
}

function changeId({ pending }: Example) {
  return { schema: Uuid, description: 'Its changeId.', example: pending.changeId }
}
