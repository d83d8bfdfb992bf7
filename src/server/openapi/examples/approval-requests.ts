// One action that is asked for four times: the request that is open, the one with a note, the declined one and the withdrawn one. The private keys
// that signed them are gone, so the file holds the signatures; examples.test.ts posts the requests.
import { actionCode } from '../../../formats/approval-requests/action-code.ts'
import { canonicalize } from '../../../formats/json/canonical.ts'
import { sha256Hex } from '../../../store/sha256.ts'
import facts from './approval-request.json' with { type: 'json' }

interface Standing {
  readonly status: string
  readonly eligible: readonly string[]
}

function exampleOf<Ending extends { readonly requestId: string; readonly signature: object }>(
  { requestId, ...ending }: Ending,
  { status, eligible }: Standing,
) {
  const request = { requestId, ...facts.asked }
  return {
    request,
    requestHash: sha256Hex(canonicalize(request)),
    actionCode: actionCode(request, sha256Hex),
    status,
    missing: request.quorum,
    intervalSeconds: 5,
    expiresAt: request.expiresAt,
    url: `/approval-requests/${requestId}`,
    eligible,
    approvals: [],
    ...ending,
  }
}

export const approvalRequest = {
  pending: exampleOf(facts.pending, { status: 'PENDING', eligible: ['alice@example.com'] }),
  noted: exampleOf(facts.noted, { status: 'PENDING', eligible: ['alice@example.com'] }),
  declined: exampleOf(facts.declined, { status: 'DECLINED', eligible: [] }),
  withdrawn: exampleOf(facts.withdrawn, { status: 'WITHDRAWN', eligible: [] }),
}
