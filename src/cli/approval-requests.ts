// countersign approver requests and sign-request: show the requests that a human is asked to approve, and sign exactly the shown one
// (decisions §7). Hash and code are computed here from the shown request: if the service shows another one, the human sees it.
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { actionCode } from '../formats/approval-requests/action-code.ts'
import { approvalPayload } from '../formats/approval-requests/approval-payload.ts'
import { requestHash } from '../formats/approval-requests/request-hash.ts'
import { shapeOf } from '../core/json/shape.ts'
import { amountOf, lineOf, shownMoney } from '../core/policy/shown.ts'
import { printable } from '../formats/text/printable.ts'
import { ApprovalRequest, ApprovalRequestPage } from '../formats/schemas/approval-request.ts'
import type { PolicyDocument } from '../formats/schemas/policy.ts'
import { isUuid } from '../formats/schemas/primitives.ts'
import { ed25519SigningKey } from '../core/signing/keys.ts'
import { sha256Hex } from '../store/sha256.ts'
import { counted } from '../formats/text/text.ts'
import { show, signedApproval } from './approver.ts'
import type { Given } from './command.ts'
import type { approver } from './commands.ts'
import { asking, isYes } from './confirm.ts'
import { policyDocuments } from './policy-documents.ts'
import { serviceOf, signerOf } from './profile.ts'
import { get, post, shapedAnswer, type ServiceAt } from './service.ts'

const PAGE_SIZE = 100
const LOOK_AGAIN_MS = 1_000

const page = shapeOf(ApprovalRequestPage)
const approvalRequest = shapeOf(ApprovalRequest)

/**
 * Prints a line for each open request, the first to expire on top: expiry, id, action code, requester, the action in the words of its
 * policy, the amount where these words lack it, approvals missing, note.
 * The key is that of a human; with `all` it is any caller's, and the list has all that this caller may read, also requests that it could
 * not sign.
 */
export async function listRequests({ all, ...given }: Given<typeof approver.requests>): Promise<void> {
  const service = serviceOf(given)
  const requests = await pending(service, { all })
  const documentOf = policyDocuments(service)
  for (const one of requests) {
    const { requestId, requestedBy, note } = one.request
    const code = actionCode(one.request, sha256Hex)
    const missing = `${counted(one.missing, 'approval')} missing`
    const parts = [
      one.expiresAt,
      requestId,
      code,
      requestedBy,
      ...said(one, await documentOf(one.request.policy)),
      missing,
    ]
    console.log(printable([...parts, ...(note === '' ? [] : [note])].join('  ')))
  }
  const more = requests.length === PAGE_SIZE ? ', and more that end later' : ''
  console.error(requests.length === 0 ? 'Nothing waits.' : `${requests.length} waiting${more}.`)
}

/** The sentence of a request as the console has it, and its amount where the sentence does not name it. */
function said({ request }: ApprovalRequest, document: PolicyDocument | undefined): string[] {
  const line = lineOf(document, request)
  const money = amountOf(document, request)
  if (money === undefined || line.includes(shownMoney(money.amount, undefined))) return [line]
  return [line, shownMoney(money.amount, money.currency ?? undefined)]
}

/** The open requests, the first to end on top. */
async function pending(
  service: ServiceAt,
  { all }: { readonly all: boolean },
): Promise<readonly ApprovalRequest[]> {
  const query = `status=PENDING&order=ending_soon&pageSize=${PAGE_SIZE}${all ? '' : '&waitingFor=me'}`
  const answer = await get(service, `/approval-requests?${query}`)
  return shapedAnswer(page, answer).requests
}

/**
 * Waits until a request waits for the human of the key.
 * @returns its id; of several, that of the first to end
 */
async function nextRequest(service: ServiceAt): Promise<string> {
  for (let isFirst = true; ; isFirst = false) {
    const [next, ...others] = await pending(service, { all: false })
    if (next !== undefined) {
      if (others.length > 0) console.error(`${others.length} more waiting after this one.`)
      return next.request.requestId
    }
    if (isFirst) console.error('Nothing waits for you yet. Waiting for the next request (Ctrl-C ends it).')
    await delay(LOOK_AGAIN_MS)
  }
}

/** Writes a note on a request. The key is that of its requester, or of a human who could sign it. */
export async function noteRequest({ id, text, ...given }: Given<typeof approver.noteRequest>): Promise<void> {
  const service = serviceOf(given)
  requireId(id)
  await post(service, `/approval-requests/${id}/notes`, { json: { text }, accept: [201] })
  console.error(`Wrote the note on ${id.toLowerCase()}.`)
}

/** Declines a request, for good. The key is that of a human who could sign it. */
export async function declineRequest({
  id,
  reason,
  ...given
}: Given<typeof approver.declineRequest>): Promise<void> {
  const service = serviceOf(given)
  requireId(id)
  await post(service, `/approval-requests/${id}/decline`, { json: { reason } })
  console.error(`Declined ${id.toLowerCase()}.`)
}

/**
 * Shows a request, asks whether to sign it, and delivers the signature.
 * @returns the exit code: 1 where it was not signed
 * @throws Error with a sentence where the request cannot be signed, or the service refuses the approval
 */
export async function signRequest({
  id: given,
  ...options
}: Given<typeof approver.signRequest>): Promise<0 | 1> {
  const service = serviceOf(options)
  const { key: file, approver: approverId, keyId } = signerOf(options)
  const id = given ?? (await nextRequest(service))
  requireId(id)
  const key = ed25519SigningKey(keyId, readFileSync(file, 'utf8'))
  const answer = await get(service, `/approval-requests/${id}`)
  const asked = readOpen(shapedAnswer(approvalRequest, answer), id)
  const { request } = asked
  showRequest(asked, said(asked, await policyDocuments(service)(request.policy)))
  const reason = await askToSign(options.reason)
  if (reason === undefined) {
    console.error(
      'Nothing was signed. The request stays open; `countersign approver decline-request` declines it.',
    )
    return 1
  }
  const by = { approverId, keyId, approvalId: randomUUID(), now: new Date(), reason }
  const payload = approvalPayload(request, { ...by, nonce: randomBytes(16).toString('hex') }, sha256Hex)
  const approval = signedApproval(payload, key)
  await post(service, '/approvals', { json: approval, accept: [201] })
  console.log(JSON.stringify(approval, undefined, 2))
  console.error(`Signed and delivered as approval ${payload.approvalId}.`)
  return 0
}

function requireId(id: string): void {
  if (!isUuid(id)) throw new Error('The id must be that of an approval request, a UUID.')
}

/** Throws where the request does not match its hash and code, or cannot be signed any more. */
function readOpen(asked: ApprovalRequest, id: string): ApprovalRequest {
  const { request, status, expiresAt } = asked
  if (
    request.requestId !== id.toLowerCase() ||
    requestHash(request, sha256Hex) !== asked.requestHash ||
    actionCode(request, sha256Hex) !== asked.actionCode ||
    request.expiresAt !== expiresAt
  )
    throw new Error(
      'The request is not the one that its id, its requestHash and its actionCode are of. Nothing was signed.',
    )
  if (status !== 'PENDING') throw new Error(`The request is ${status}: there is nothing to sign.`)
  return asked
}

/** @param words describe the action in the words of its policy. They come first, since a person reads these; the rest is for checking them */
function showRequest(
  { request, requestHash: hash, actionCode: code, notes = [] }: ApprovalRequest,
  words: readonly string[],
): void {
  console.error(printable(`${request.requestedBy} asks you to approve:`))
  console.error(`\n  ${printable(words.join(', '))}\n`)
  show('You approve, once, by this signature, exactly this:', request)
  if (notes.length > 0) console.error('Notes on it, which your signature does not cover:')
  for (const { by, text, notedAt } of notes) console.error(printable(`  ${notedAt}  ${by}: ${text}`))
  console.error(`Its hash is ${hash}. Its action code is

  ${code}
`)
  console.error(printable(`Compare the code with what ${request.requestedBy} shows, over another channel.`))
}

/**
 * Asks whether to sign and, where none was given, for the reason.
 * @param given the reason of the command line
 * @returns the reason, '' for none; undefined: do not sign
 */
function askToSign(given: string | undefined): Promise<string | undefined> {
  return asking(async (ask) => {
    if (!isYes(await ask('Sign it? [y/N] '))) return undefined
    return given ?? ask('Why, for later readers? (Enter: no reason) ')
  })
}
