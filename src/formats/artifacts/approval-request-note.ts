// The checks of a note on an approval request, alone and as one of the notes of its request, from its text alone (decisions §7).
import type { Json } from '../json/canonical.ts'
import { isMembers, type Members } from '../json/members.ts'
import { textAt } from './account-text.ts'
import {
  canonicalText,
  check,
  checkSigned,
  list,
  members,
  mustHold,
  string,
  type Check,
  type Crypto,
} from './evidence.ts'
import { instantMs } from './instant.ts'
import type { ArtifactKind } from './kind.ts'
import * as shape from './known-members.ts'
import { checkEd25519 } from './signatures.ts'

const HASH = /^[0-9a-f]{64}$/

/**
 * Checks a note; never throws.
 * @param evidence one of the `notes` of a request, or any other JSON
 * @returns at least one check
 */
export function checkApprovalRequestNote(evidence: Json, given: Crypto): Check[] {
  const { signature, ...note }: Members = isMembers(evidence) ? evidence : {}
  return [
    checkEd25519('note signature', 'The signature of the note is not valid', given, {
      artifact: 'approval-request-note',
      text: canonicalText(note),
      signature,
    }),
    check('note', 'The note is not one that the service makes', () => isNote(note)),
  ]
}

/** The check of all notes of a request: each is signed, and was written on this request after it was made. */
export function checkNotesOf({ request, requestHash, notes }: Members, given: Crypto): Check {
  const problem = 'One of its notes was not written on this request'
  return checkSigned('notes', problem, given, (crypto) => {
    const { requestId, createdAt } = members(request)
    return list(notes).every((one) => {
      mustHold(checkApprovalRequestNote(one, crypto))
      const note = members(one)
      return (
        note['requestId'] === requestId &&
        note['requestHash'] === requestHash &&
        instantMs(string(createdAt)) <= instantMs(string(note['notedAt']))
      )
    })
  })
}

function isNote({ requestHash, notedAt, ...others }: Members): boolean {
  return (
    ['noteId', 'requestId', 'by', 'text'].every((name) => string(others[name]) !== '') &&
    HASH.test(string(requestHash)) &&
    !Number.isNaN(instantMs(string(notedAt)))
  )
}

export const NOTE = shape.signed({ signature: shape.SIGNATURE })

export const approvalRequestNote = {
  name: 'approval-request-note',
  times: ['notedAt'],
  logged: { kind: 'approval-request-note', event: 'approval_request.noted' },
  stored: {
    table: 'approval_request_notes',
    id: 'noteId',
    at: 'notedAt',
    columns: { noteId: 'uuid', requestId: 'uuid', notedAt: 'timestamptz' },
    owner: { column: 'requested_by', of: 'approval_requests', by: 'request_id' },
    audited: ['approval_request.noted'],
  },
  evidence: {
    marks: ['noteId', 'requestHash', 'signature'],
    idOf: ({ noteId }) => noteId,
    check: checkApprovalRequestNote,
    members: NOTE,
    title: 'Note on an approval request',
    plainTitle: 'Note on a request for approval',
    account: (note) => ({
      said: {
        Request: textAt(note, 'requestId'),
        Note: textAt(note, 'text'),
        By: textAt(note, 'by'),
        When: textAt(note, 'notedAt'),
      },
    }),
    notProven: [
      'What was asked for: it names a request by its hash. Verify the request, and compare its requestHash.',
      'That what it says is true, or that it is the only note: others are logged by themselves.',
      'That the human or the caller of that name wrote it: the service signs for those whose key or session wrote it, and their names are what the service knew them by.',
    ],
  },
  feed: {
    types: ['approval_request.noted'],
    details: ({ requestId, requestHash, by, notedAt }, { id: noteId, callerId }) => ({
      occurredAt: notedAt!,
      callerId,
      requestId,
      requestHash,
      noteId,
      by,
    }),
  },
} as const satisfies ArtifactKind
