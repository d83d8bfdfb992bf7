// The offline signer reads and makes these: no page, no network, no storage.
import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js'
import { approvalPayload } from '../../src/formats/approval-requests/approval-payload.ts'
import { actionCode } from '../../src/formats/approval-requests/action-code.ts'
import { requestHash } from '../../src/formats/approval-requests/request-hash.ts'
import { sha256Hex } from '../../src/console/hashing.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { parseJsonText } from '../../src/formats/json/text.ts'
import type { ApprovalRequestContent } from '../../src/formats/schemas/approval-request.ts'
import { isWhole } from '../../src/formats/artifacts/approval-request.ts'
import { base64, toBase64 } from '../../src/formats/base64.ts'
import { isMembers } from '../../src/formats/json/members.ts'
import { preAuthEncoding } from '../../src/formats/verifier/pre-auth-encoding.ts'

/** Deeper than any transaction that the service takes. */
const DEPTH_MAX = 80

/** A request as this page computes it. */
export interface Asked {
  readonly request: ApprovalRequestContent
  readonly bytes: string
  readonly hash: string
  readonly code: string
}

/** The members that a signature covers; anything beside them would be signed without being known here. */
const MEMBERS = [
  'requestId',
  'requestedBy',
  'principalId',
  'capability',
  'target',
  'parameters',
  'signals',
  'policy',
  'quorum',
  'note',
  'createdAt',
  'expiresAt',
].toSorted()

/**
 * @param text what GET /approval-requests/{id} answers, or the canonical bytes of its member `request`, as the console's QR code has them
 * @throws Error that says why it is no request to sign
 */
export function readRequest(text: string): Asked {
  let value: Json
  try {
    value = parseJsonText(text.trim(), DEPTH_MAX) as Json
  } catch {
    throw new Error('This is not JSON with exactly one reading.')
  }
  const reply = isMembers(value) && isMembers(value['request']) ? value : undefined
  const content = reply === undefined ? value : reply['request']
  if (!isMembers(content) || Object.keys(content).toSorted().join() !== MEMBERS.join() || !isRequest(content))
    throw new Error('This is not an approval request as the service makes them.')
  const request = content as unknown as ApprovalRequestContent
  const asked = {
    request,
    bytes: canonicalize(content),
    hash: requestHash(request, sha256Hex),
    code: actionCode(request, sha256Hex),
  }
  if (reply !== undefined && (reply['requestHash'] !== asked.hash || reply['actionCode'] !== asked.code))
    throw new Error(
      'Do not sign this: it names another hash or action code than this page computes. Somebody has changed it.',
    )
  return asked
}

function isRequest(content: Parameters<typeof isWhole>[0]): boolean {
  try {
    return isWhole(content)
  } catch {
    return false
  }
}

/** PKCS#8 of an Ed25519 key (RFC 8410 §7) begins with these bytes; its 32 bytes follow. */
const PKCS8_ED25519 = '302e020100300506032b657004220420'

/**
 * @param pem the private half that `countersign approver keygen` makes
 * @returns the 32 bytes of the key
 * @throws Error that says what else it is
 */
export function readPrivateKey(pem: string): Uint8Array {
  const [, label = '', body = ''] = /-----BEGIN ([A-Z ]+)-----([\s\S]+?)-----END \1-----/.exec(pem) ?? []
  if (label === 'PUBLIC KEY') throw new Error('This is the public half: the file ends with .private.pem.')
  const der = label === 'PRIVATE KEY' ? base64(body.replaceAll(/\s/g, '')) : undefined
  if (der === undefined || der.length !== 48 || !bytesToHex(der).startsWith(PKCS8_ED25519))
    throw new Error(
      'This is not the private key of an Ed25519 pair, as `countersign approver keygen` makes them.',
    )
  return der.slice(16)
}

/** The approver who signs, by the names that are enrolled. */
export interface Signer {
  readonly approverId: string
  readonly keyId: string
  readonly secretKey: Uint8Array
  /** Why they approve; '' for none. */
  readonly reason: string
}

/** @returns the text of the SignedApproval that POST /approvals takes */
export function signRequest(
  { request }: Asked,
  { approverId, keyId, secretKey, reason }: Signer,
  now: Date = new Date(),
): string {
  const by = { approverId, keyId, approvalId: randomUuid(), nonce: bytesToHex(randomBytes(16)), now, reason }
  const payload = approvalPayload(request, by, sha256Hex)
  const signed = preAuthEncoding('approval', canonicalize(payload))
  return JSON.stringify({
    payload,
    algorithm: 'ed25519',
    signature: toBase64(ed25519.sign(signed, secretKey)),
  })
}

/** Version 4 (RFC 9562 §5.4). `crypto.randomUUID` is not there in every browser's pages of files. */
function randomUuid(): string {
  const bytes = randomBytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytesToHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
