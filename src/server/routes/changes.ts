// Changes that one human proposes and another approves or rejects (decisions §7): the same five routes for every kind, and the list of all kinds.
import { Type, type TSchema } from 'typebox'
import { changePaths } from '../../formats/change-paths.ts'
import {
  Change,
  ChangeApproval,
  ChangePage,
  ChangeRejection,
  changeKinds,
  changeStatuses,
  type ChangeKindName,
} from '../../formats/schemas/governance.ts'
import { Uuid } from '../../formats/schemas/primitives.ts'
import { changeText } from '../../store/tables/sealed.ts'
import { listChanges } from '../../store/tables/pending-changes.ts'
import { equalText, partOfWord, timeRange } from '../openapi/parameters.ts'
import { approverChange } from '../openapi/examples/changes.ts'
import { list } from './list.ts'
import { governingGet, humanPost, type Handler, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

interface KindOfChange {
  readonly kind: ChangeKindName
  /** Completes "a change of …". */
  readonly noun: string
  /** The operationIds are `list<name>Changes` and so on. */
  readonly name: string
  /** A proposed change, the two requests that resolve it, and their answers. */
  readonly example: {
    readonly pending: { readonly changeId: string; readonly proposed: object; readonly reason: string }
    readonly approve: object
    readonly approved: object
    readonly reject: object
    readonly rejected: object
  }
  /** How a change is proposed. The kind's code in the workers reads the path's parameters beside the body. */
  readonly proposal: {
    readonly description: string
    readonly schema: TSchema
    /** An example of the body; left out: the proposal of the change's example, with its reason. */
    readonly example?: object
  } & Partial<Pick<Route, 'path' | 'params' | 'failures' | 'session'>>
}

/** @returns the row that proposes a change, then the rows that list, show, approve and reject changes */
export function changeRoutes({
  kind,
  noun,
  name,
  example,
  proposal: { description, schema, example: body, ...proposal },
}: KindOfChange) {
  const path = changePaths[kind]
  const params = {
    id: { schema: Uuid, description: 'The changeId.', example: example.pending.changeId },
  } as const
  return [
    {
      ...humanPost,
      path,
      operationId: `propose${name}Change`,
      tag: 'Governance',
      summary: `Propose a change of ${noun}`,
      answers: {
        201: {
          description: 'The proposed change, which another human approves or rejects.',
          schema: Change,
          example: example.pending,
        },
      },
      failures: ['fieldRequired', 'invalidField', 'conflict'],
      readsDatabase: true,
      ...proposal,
      description: `For humans. ${description}`,
      body: { schema, example: body ?? { ...example.pending.proposed, reason: example.pending.reason } },
      handle: propose(kind),
    },
    list({
      ...listOf(example.pending),
      path,
      operationId: `list${name}Changes`,
      summary: `Changes of ${noun}`,
      description: 'For humans and auditors.',
      filters: changeFilters,
      read: (range, asked, { pool }) => listChanges(pool, range, { ...asked, kind }),
    }),
    {
      ...governingGet,
      path: `${path}/{id}`,
      readers: true,
      operationId: `get${name}Change`,
      tag: 'Governance',
      summary: `One change of ${noun}`,
      description:
        'For humans and auditors. While the change is open, its warnings and its diff are those of now.',
      params,
      answers: {
        200: { description: 'The change, with its signature.', schema: Change, example: example.approved },
      },
      failures: ['changeNotFound', 'overloaded'],
      readsDatabase: true,
      handle: onThread('show-change', { beside: { kind } }),
    },
    {
      ...humanPost,
      path: `${path}/{id}/approve`,
      // The body carries a step-up signature, which a session cannot make.
      session: true,
      operationId: `approve${name}Change`,
      tag: 'Governance',
      summary: `Approve a change of ${noun}`,
      description:
        'For humans. Not for the human who proposed the change. It takes effect on every instance within a second.',
      params,
      body: { schema: ChangeApproval, example: example.approve },
      answers: { 200: { description: 'The approved change.', schema: Change, example: example.approved } },
      failures: ['invalidField', 'changeNotFound', 'sameActor', 'stepUpInvalid', 'conflict'],
      readsDatabase: true,
      handle: approve(kind),
    },
    {
      ...humanPost,
      path: `${path}/{id}/reject`,
      // The body carries a step-up signature, which a session cannot make.
      session: true,
      operationId: `reject${name}Change`,
      tag: 'Governance',
      summary: `Reject a change of ${noun}`,
      description: 'For humans. Not for the human who proposed the change.',
      params,
      body: { schema: ChangeRejection, example: example.reject },
      answers: { 200: { description: 'The rejected change.', schema: Change, example: example.rejected } },
      failures: ['fieldRequired', 'invalidField', 'changeNotFound', 'sameActor', 'stepUpInvalid', 'conflict'],
      readsDatabase: true,
      handle: onThread('resolve-change', { beside: { kind, action: 'reject' } }),
    },
  ] as const satisfies readonly Route[]
}

const status = {
  schema: Type.Enum([...changeStatuses]),
  description: 'Only changes with this status.',
} as const

const changeFilters = {
  status,
  target: equalText('changes of this target'),
  callerId: equalText('changes that this caller proposed'),
  ...timeRange,
  q: {
    ...partOfWord,
    description:
      'A part of a word of the kind, the target, the reason or the name of who proposed it, or the beginning of an id; letter case is ignored.',
  },
} as const

/** Makes the parts that the lists have in common. */
const listOf = (pending: object) =>
  ({
    ...governingGet,
    readers: true,
    tag: 'Governance',
    schema: ChangePage,
    member: 'changes',
    example: [pending],
    textOf: changeText,
  }) as const

/** For humans who resolve changes, and auditors: changes of every kind. */
export const changes = [
  list({
    ...listOf(approverChange.pending),
    path: '/changes',
    operationId: 'listChanges',
    summary: 'Changes of every kind',
    description: 'For humans and auditors. Use the routes of its kind to read, approve or reject a change.',
    filters: {
      ...changeFilters,
      kind: { schema: Type.Enum([...changeKinds]), description: 'Only changes of this kind.' },
    },
    read: (range, asked, { pool }) => listChanges(pool, range, asked),
  }),
] as const satisfies readonly Route[]

/** A session of the console only identifies the viewer: where its row accepts sessions, a proposal needs a signature of the human. */
function propose(kind: ChangeKindName): Handler {
  const byKey = onThread('propose-change', { beside: { kind } })
  const bySession = onThread('propose-change', { beside: { kind, stepUp: 'required' } })
  return (request, service) => (request.session === undefined ? byKey : bySession)(request, service)
}

function approve(kind: ChangeKindName): Handler {
  const resolve = onThread('resolve-change', { beside: { kind, action: 'approve' } })
  return async (request, service) => {
    const reply = await resolve(request, service)
    // This instance applies the change before it answers. If the database is gone by now, the change is approved all the same, and
    // the authority watch logs the failure and applies it later.
    if (reply.status === 200) await service.authority.refresh().catch(() => undefined)
    return reply
  }
}
