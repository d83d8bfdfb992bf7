// POST /approval-requests/{id}/notes: an approver asks, or the requester answers. The request stays as it is.
import { randomUUID } from 'node:crypto'
import { approvalRequestNote } from '../../src/formats/artifacts/approval-request-note.ts'
import { approvalRequestText } from '../../src/core/approval-requests/reply.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import {
  NOTES_MAX,
  NOTES_OF_ONE_MAX,
  type ApprovalRequestContent,
  type ApprovalRequestNote,
} from '../../src/formats/schemas/approval-request.ts'
import { ApprovalRequestNoteBody } from '../../src/formats/schemas/approval-request-body.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import {
  insertRequestNote,
  lockApprovalRequest,
  readApprovalRequest,
  type StandingRequest,
} from '../../src/store/tables/approval-requests.ts'
import type { Transaction } from '../../src/store/postgres/transaction.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording } from '../evidence/recording.ts'
import type { ScopedCaller, WorkerRequest } from '../in-flight.ts'
import { ineligible, notOpen } from './eligible.ts'
import { timeOnRequest } from './times.ts'

type NoteWith = Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries' | 'persons'>

const read = bodyOf(ApprovalRequestNoteBody)

export async function writeNote({ caller, body, params }: WorkerRequest, thread: NoteWith) {
  const given = read(body)
  if (given instanceof Failure) return given
  const { pool } = thread
  const persons = thread.persons.current()
  const id = (params['id'] ?? '').toLowerCase()
  const which = { requestId: id }
  const found = isUuid(id) ? await readApprovalRequest(pool, which, { persons, owner: caller.reads }) : null
  if (found === null) return failures.approvalRequestNotFound()
  return allOrNothing(pool, async (sql) => {
    // Notes of a request are written one after the other, so that their number is exact.
    await lockApprovalRequest(sql, found.requestHash)
    const standing = await readApprovalRequest(sql, which, { persons })
    const refused =
      (caller.callerId === found.requestedBy
        ? undefined
        : await ineligible(caller, found, { sql, persons })) ??
      notOpen(standing) ??
      full(standing, caller)
    if (refused !== undefined) return refused
    await store({ caller, text: given.text, found }, { ...thread, sql })
    const noted = await readApprovalRequest(sql, which, { persons })
    return { body: approvalRequestText(noted!) }
  })
}

/** The limit for each author keeps room for the others: a requester that fills it could not be asked a question. */
function full(request: StandingRequest | null, { callerId }: ScopedCaller): Failure | undefined {
  const { notes = [] } = request ?? {}
  if (notes.length >= NOTES_MAX)
    return failures.conflict(`The approval request has ${NOTES_MAX} notes, and takes no more.`)
  const own = notes.filter(({ body }) => (JSON.parse(body) as ApprovalRequestNote).by === callerId)
  return own.length < NOTES_OF_ONE_MAX
    ? undefined
    : failures.conflict(
        `You have written ${NOTES_OF_ONE_MAX} notes on the approval request, and can write no more.`,
      )
}

async function store(
  { caller, text, found }: { caller: ScopedCaller; text: string; found: StandingRequest },
  { sql, ...tools }: Omit<NoteWith, 'pool' | 'persons'> & { sql: Transaction },
): Promise<void> {
  const { requestId, requestHash, requestedBy, body } = found
  const content = JSON.parse(body) as ApprovalRequestContent
  const note: ApprovalRequestNote = {
    noteId: randomUUID(),
    requestId,
    requestHash,
    by: caller.callerId,
    text,
    notedAt: timeOnRequest(content),
  }
  const { noteId, notedAt } = note
  const recording = startRecording(tools)
  const row = recording.record(approvalRequestNote, note, { at: notedAt, owner: requestedBy })
  await insertRequestNote(sql, row)
  recording.audit({
    type: 'approval_request.noted',
    route: 'POST /approval-requests/{id}/notes',
    by: caller.callerId,
    at: notedAt,
    reason: 'A note was written on an approval request.',
    capability: content.capability,
    detail: { requestId, noteId },
  })
  await sql.run(recording.statements())
}
