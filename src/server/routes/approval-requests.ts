// Approval requests: a caller asks humans to approve one exact execution (docs/handbook/approving.md).
import { Type } from 'typebox'
import { approvalRequestText } from '../../core/approval-requests/reply.ts'
import { comparedOf } from '../../core/approval-requests/compared.ts'
import { approvalRequestStatuses } from '../../formats/schemas/approval-request-statuses.ts'
import { readableOwner } from '../../formats/people/caller.ts'
import { failures, type Failure } from '../../core/errors/errors.ts'
import type { ApprovalRequestStatus } from '../../formats/schemas/approval-request-statuses.ts'
import {
  ApprovalRequest,
  ApprovalRequestPage,
  NOTES_MAX,
  NOTES_OF_ONE_MAX,
  type Compared,
} from '../../formats/schemas/approval-request.ts'
import {
  ApprovalRequestBody,
  ApprovalRequestDecline,
  ApprovalRequestNoteBody,
} from '../../formats/schemas/approval-request-body.ts'
import { NoMembers } from '../../formats/schemas/execution-intent.ts'
import { ApprovalRequestJudgement } from '../../formats/schemas/sandbox.ts'
import { isUuid, NonEmptyText, Uuid } from '../../formats/schemas/primitives.ts'
import {
  listApprovalRequests,
  readApprovalRequest,
  requestOrders,
  type RequestFilters,
  type RequestOrder,
  type StandingRequest,
} from '../../store/tables/approval-requests.ts'
import type { Page, PageRange } from '../../store/tables/page.ts'
import { approvalRequest as example } from '../openapi/examples/approval-requests.ts'
import evaluation from '../openapi/examples/sandbox-evaluation.json' with { type: 'json' }
import transaction from '../openapi/examples/transaction.json' with { type: 'json' }
import { equalText, partOfWord, timeRange } from '../openapi/parameters.ts'
import { list } from './list.ts'
import { waitMsOf } from './preferences.ts'
import { post, governingGet, humanPost, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { People, Reading, Waits } from '../service.ts'
import { onThread } from './on-thread.ts'

const WAIT_SECONDS_MAX = 20

/** The example transaction with the action of the example request. */
const { capability, target, parameters, policy, signals, note } = example.pending.request
const posted = {
  transaction: {
    ...transaction,
    intent: { ...transaction.intent, action: capability, target, parameters },
    policy: { ...transaction.policy, name: policy.name, version: policy.version },
    signals,
  },
  note,
}

const idOf = ({ request: { requestId } }: { request: { requestId: string } }) => ({
  id: { schema: NonEmptyText, description: 'its requestId', example: requestId },
})

export const approvalRequests = [
  {
    ...post,
    path: '/approval-requests',
    cost: 'compute',
    operationId: 'requestApproval',
    tag: 'Approvals',
    summary: 'Ask humans to approve an execution',
    description:
      'The transaction is evaluated as by `POST /sandbox/evaluate`, on the assumption that its approvals are given; its id is not used up. Asking again for the same content while the request is open answers 200 with the same request. After the approvals, execute exactly the same content under a new id.',
    body: { schema: ApprovalRequestBody, example: posted },
    answers: {
      200: {
        description: 'The open request that the caller made earlier for the same content.',
        schema: ApprovalRequest,
        example: example.pending,
        headers: ['Location'],
      },
      201: {
        description: 'The new request; its approvers are notified.',
        schema: ApprovalRequest,
        example: example.pending,
        headers: ['Location'],
      },
    },
    failures: [
      'malformedJson',
      'invalidField',
      'principalOutsideScope',
      'capabilityOutsideScope',
      'policyNotFound',
      'refusalNotFound',
      'notApprovable',
      'tooManyApprovalRequests',
      'overloaded',
    ],
    readsDatabase: true,
    handle: onThread('open-approval-request'),
  },
  list({
    ...governingGet,
    path: '/approval-requests',
    operationId: 'listApprovalRequests',
    tag: 'Approvals',
    summary: 'Approval requests',
    description: "A caller's own; everybody's for humans and auditors.",
    filters: {
      status: {
        schema: Type.Enum([...approvalRequestStatuses]),
        description: 'Only requests with this status now.',
      },
      waitingFor: {
        schema: Type.Enum(['me']),
        description:
          'Only pending requests that the approver of this caller (its `approverId`) could sign and has not signed.',
      },
      usedBy: {
        schema: Uuid,
        description: 'Only the request that the execution with this businessTransactionId used.',
        mustBe: 'a valid UUID',
      },
      signedBy: {
        schema: NonEmptyText,
        description:
          'Only requests that the approver with this approverId has signed, whatever came of them.',
      },
      capability: equalText('this action'),
      target: equalText('this target'),
      policy: equalText('this policy'),
      policyVersion: { schema: NonEmptyText, description: 'Only this version.' },
      callerId: equalText('requests of this caller'),
      order: {
        schema: Type.Enum([...requestOrders]),
        description:
          'What comes first: `newest`, as where it is left out, or `ending_soon`, what expires first.',
      },
      compared: {
        schema: Type.Enum(['true', 'false']),
        description:
          'With `true` pending requests come with what they are compared with, for humans and auditors; with `status=PENDING` only, and the reply takes longer.',
      },
      ...timeRange,
      q: partOfWord,
    },
    schema: ApprovalRequestPage,
    member: 'requests',
    example: [example.pending],
    failures: ['notAnEligibleApprover'],
    refuse: ({ waitingFor }, { caller }) =>
      waitingFor === null || caller?.approverId !== undefined
        ? undefined
        : failures.notAnEligibleApprover(
            'waitingFor=me needs an approverId of this caller in SERVICE_API_KEYS, which says which approver a human is.',
          ),
    read: readPage,
    textOf: approvalRequestText,
  }),
  {
    ...governingGet,
    path: '/approval-requests/{id}',
    operationId: 'getApprovalRequest',
    tag: 'Approvals',
    summary: 'One approval request',
    description: `For the requester, humans and auditors. With \`Prefer: wait=N\` the reply waits for a change while the request is pending, at most ${WAIT_SECONDS_MAX} seconds.`,
    params: idOf(example.pending),
    answers: {
      200: {
        description: 'The request and its current state.',
        schema: ApprovalRequest,
        example: example.pending,
      },
    },
    failures: ['approvalRequestNotFound', 'overloaded'],
    readsDatabase: true,
    handle: readOne,
  },
  {
    ...governingGet,
    path: '/approval-requests/{id}/judgement',
    operationId: 'judgeApprovalRequest',
    tag: 'Approvals',
    summary: 'What would be decided once the approvals are given',
    description:
      'The decision that the requester would get now if the approvals that its request asks for were given: as `POST /sandbox/evaluate` answers the requester itself, `presentState` included. A limit’s value that the requester declared is compared with the present one. Nothing is stored, used up or called. The members that no request has (`metadata`, `authority` but for the principal) have values that say nothing. For the requester, humans and auditors.',
    params: idOf(example.pending),
    answers: {
      200: {
        description: 'The decision, its trace and the present values of the signals that the service knows.',
        schema: ApprovalRequestJudgement,
        example: {
          requestId: example.pending.request.requestId,
          evaluatedAt: example.pending.request.createdAt,
          decision: evaluation.decision,
        },
      },
    },
    failures: ['approvalRequestNotFound', 'overloaded'],
    readsDatabase: true,
    handle: onThread('judge-approval-request'),
  },
  {
    ...post,
    path: '/approval-requests/{id}/notes',
    appends: true,
    session: true,
    cost: 'administration',
    operationId: 'noteApprovalRequest',
    tag: 'Approvals',
    summary: 'Write a note on an approval request',
    description: `For the requester, and for humans whose \`approverId\` could sign it, while the request is open: at most ${NOTES_MAX} notes for a request, ${NOTES_OF_ONE_MAX} of them by one caller. The service signs the note with the callerId that wrote it. A note changes nothing that an approval covers, and is never an approval or a decline.`,
    params: idOf(example.noted),
    body: { schema: ApprovalRequestNoteBody, example: { text: example.noted.notes[0]!.text } },
    answers: {
      201: {
        description: 'The request, with the signed note as the last of its notes.',
        schema: ApprovalRequest,
        example: example.noted,
      },
    },
    failures: [
      'malformedJson',
      'invalidField',
      'notAnEligibleApprover',
      'approvalRequestNotFound',
      'conflict',
      'overloaded',
    ],
    readsDatabase: true,
    handle: onThread('note-approval-request', { as: 201 }),
  },
  {
    ...humanPost,
    path: '/approval-requests/{id}/decline',
    session: true,
    operationId: 'declineApprovalRequest',
    tag: 'Approvals',
    summary: 'Decline an approval request',
    description:
      'For humans whose `approverId` could sign it. Final: approvals already given for it no longer count.',
    params: idOf(example.declined),
    body: { schema: ApprovalRequestDecline, example: { reason: example.declined.closed.reason } },
    answers: {
      200: {
        description: 'The declined request, with the signed decline.',
        schema: ApprovalRequest,
        example: example.declined,
      },
    },
    failures: [
      'malformedJson',
      'invalidField',
      'notAnEligibleApprover',
      'approvalRequestNotFound',
      'conflict',
    ],
    readsDatabase: true,
    handle: onThread('close-approval-request', { beside: { action: 'decline' } }),
  },
  {
    ...post,
    path: '/approval-requests/{id}/withdraw',
    appends: true,
    session: true,
    // Charged to the budget for decisions: a caller that has asked much can still withdraw.
    cost: 'administration',
    operationId: 'withdrawApprovalRequest',
    tag: 'Approvals',
    summary: 'Withdraw an approval request',
    description: 'For the requester. Final: approvals already given for it no longer count.',
    params: idOf(example.withdrawn),
    body: { schema: NoMembers, example: {} },
    answers: {
      200: {
        description: 'The withdrawn request, with the signed withdrawal.',
        schema: ApprovalRequest,
        example: example.withdrawn,
      },
    },
    failures: ['malformedJson', 'invalidField', 'approvalRequestNotFound', 'conflict', 'overloaded'],
    readsDatabase: true,
    handle: onThread('close-approval-request', { beside: { action: 'withdraw' } }),
  },
] as const satisfies readonly Route[]

async function readPage(
  range: PageRange,
  {
    waitingFor,
    compared: wantsCompared,
    ...asked
  }: Omit<RequestFilters, 'owner'> & {
    readonly status: ApprovalRequestStatus | null
    readonly waitingFor: 'me' | null
    readonly order: RequestOrder | null
    readonly compared: 'true' | 'false' | null
  },
  { pool, authority, config }: Reading & People,
  { caller }: RouteRequest,
): Promise<Page<StandingRequest & { readonly compared?: Compared }>> {
  const owner = readableOwner(caller)
  const { persons } = authority.current()
  const page = await listApprovalRequests(pool, range, {
    ...asked,
    owner,
    waitingFor: waitingFor === null ? null : (caller?.approverId ?? null),
    persons,
  })
  // The comparison shows actions of others, which a caller that reads only its own entries may not see, and a closed request needs none.
  if (owner !== null || asked.status !== 'PENDING' || wantsCompared !== 'true') return page
  const compared = await comparedOf(pool, page.rows, {
    persons,
    hasCatalogue: config.catalogue !== undefined,
  })
  return { ...page, rows: page.rows.map((row, i) => ({ ...row, compared: compared[i]! })) }
}

async function readOne(
  request: RouteRequest,
  { pool, authority, config, approvalRequestWatch }: Reading & People & Waits,
): Promise<Answer | Failure> {
  const { params, caller, client } = request
  const { id } = params
  const ms = waitMsOf(request, WAIT_SECONDS_MAX)
  const owner = readableOwner(caller)
  const read = () =>
    isUuid(id)
      ? readApprovalRequest(pool, { requestId: id }, { persons: authority.current().persons, owner })
      : Promise.resolve(null)
  let found = await read()
  if (found?.status === 'PENDING' && ms > 0) {
    await approvalRequestWatch.wait(stateOf(found), { client, ms })
    found = await read()
  }
  if (found === null) return failures.approvalRequestNotFound()
  if (owner !== null) return { status: 200, body: approvalRequestText(found) }
  const [compared] = await comparedOf(pool, [found], {
    persons: authority.current().persons,
    hasCatalogue: config.catalogue !== undefined,
  })
  return { status: 200, body: approvalRequestText({ ...found, compared: compared! }) }
}

function stateOf({ requestId, status, approvals, notes }: StandingRequest) {
  return { requestId, status, approved: approvals.length, noted: notes.length }
}
