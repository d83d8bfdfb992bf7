// countersign approver: the tools of a human whose signature counts (decisions §7). They need no service and no network: the private
// key stays where its owner keeps it. Output for programs goes to stdout, text that the human must see first goes to stderr.
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isObject } from '../formats/json/fields.ts'
import { canonicalize, type Json } from '../formats/json/canonical.ts'
import { bytesOf, flipLine, IMPACT_REPORT_BYTES_MAX, retiredLine } from '../formats/impact-report.ts'
import { printable } from '../formats/text/printable.ts'
import { SignedApproval } from '../formats/schemas/approval.ts'
import { ImpactReport } from '../formats/schemas/impact-report.ts'
import { shapeOf } from '../core/json/shape.ts'
import { ed25519SigningKey, type SigningKey } from '../core/signing/keys.ts'
import { sha256Hex } from '../store/sha256.ts'
import { signEd25519 } from '../core/signing/signature.ts'
import { STEP_UP_MS, stepUpPayload } from '../formats/step-up-payload.ts'
import { writeWholeFile } from '../core/files/whole-file.ts'
import type { Members } from '../formats/json/members.ts'
import { shownOf } from '../formats/artifacts/governance-change.ts'
import type { Given } from './command.ts'
import type { approver } from './commands.ts'
import { readJson } from './json.ts'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Makes a key pair, and prints the public key.
 * @throws as `makeKeyPair`
 */
export function approverKeygen({ dir, name }: Given<typeof approver.keygen>): void {
  if (!/^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,63}$/.test(name))
    throw new Error('--name must be 1 to 64 letters, digits or . _ @ -, without a dot in front.')
  const { file, publicPem } = makeKeyPair(resolve(dir), name)
  console.error(`The private key is ${file.private}. Keep it secret: no person and no service ever needs it.

What to do next with the public key below:
  to approve actions: have a human propose it by POST /approvers/changes
    {"action": "add", "approverId": …, "keyId": …, "publicKeyPem": …, "reason": …}
    and another one approve that change;
  to approve changes: give ${file.public} to the operator
    (countersign callers issue … --holder-type USER --step-up-public-key <file>).
`)
  process.stdout.write(publicPem)
}

/**
 * Makes an Ed25519 key pair in two files; overwrites nothing.
 * @param folder created if it is missing
 * @param name of the files, before their dots
 * @returns the files' paths, and both keys as PEM (PKCS#8 and SPKI)
 * @throws Error with the file that exists already, or the file system's own error
 */
export function makeKeyPair(folder: string, name: string) {
  const file = { private: join(folder, `${name}.private.pem`), public: join(folder, `${name}.public.pem`) }
  const exists = [file.private, file.public].find((path) => existsSync(path))
  if (exists !== undefined) throw new Error(`${exists} exists and was left as it is.`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  // The private half first: no public key is ever enrolled whose private half was not kept.
  if (!writeWholeFile(file.private, privatePem, 0o600) || !writeWholeFile(file.public, publicPem, 0o644))
    throw new Error(
      `Another ${name} was made in ${folder} at the same moment; look which files belong together.`,
    )
  return { file, privatePem, publicPem }
}

export type ApprovalToSign = Given<typeof approver.signApproval>

const shapedApproval = shapeOf(SignedApproval)

/**
 * Prints a SignedApproval.
 * @throws Error with a sentence about the argument or the file that is wrong; then nothing is signed
 */
export function signApproval(request: ApprovalToSign, now: Date): void {
  const payload: Readonly<Record<string, Json>> = {
    version: 1,
    approvalId: randomUUID(),
    approverId: request.approver,
    keyId: request.keyId,
    capability: request.capability,
    target: request.target,
    scope: scopeOf(request),
    issuedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + durationMs(request.expiresIn)).toISOString(),
    nonce: randomBytes(16).toString('hex'),
  }
  const key = ed25519SigningKey(request.keyId, readFileSync(request.key, 'utf8'))
  const approval = signedApproval(payload, key)
  show('You approve, once, by this signature:', payload)
  console.log(JSON.stringify(approval, undefined, 2))
}

/** @throws Error with a sentence where the service would refuse it: a mistake is reported before a signature exists */
export function signedApproval(payload: Json, key: SigningKey) {
  const shaped = shapedApproval({ payload, algorithm: 'ed25519', signature: '' })
  if ('problem' in shaped) throw new Error(shaped.problem)
  const { value } = signEd25519('approval', canonicalize(payload), key)
  return { payload, algorithm: 'ed25519', signature: value }
}

function scopeOf({ parameters, limit }: ApprovalToSign): Json {
  if ((parameters === undefined) === (limit === undefined))
    throw new Error('Give either --parameters, for exactly these, or --limit, for a range of them.')
  if (limit !== undefined) return { limits: limit.map(limitOf) }
  const value = readJson(parameters ?? '')
  if (!isObject(value))
    throw new Error('--parameters must be a JSON object: intent.parameters of the transaction.')
  show('The parameters:', value)
  return { parametersHash: sha256Hex(canonicalize(value as Json)) }
}

function limitOf(text: string): Json {
  const [, path, max] = /^([^=]+)=(-?(?:0|[1-9]\d*)(?:\.\d+)?)$/.exec(text) ?? []
  if (path === undefined || max === undefined)
    throw new Error(`--limit ${JSON.stringify(text)} must be path=max, such as amount=500.`)
  return { path, max: Number(max) }
}

function durationMs(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? []
  if (count === undefined || unit === undefined)
    throw new Error('--expires-in must be a whole number and s, m, h or d, such as 15m.')
  return Number(count) * (UNIT_MS[unit] ?? 0)
}

type StepUpRequest = Given<typeof approver.signStepUp>

/**
 * Prints the body that resolves a change.
 * @throws Error with a sentence where the change does not match its hash; then nothing is signed
 */
export function signStepUp(
  { key: file, change: source, action, keyId, reason, impact }: StepUpRequest,
  now: Date,
): void {
  if ((action === 'reject') !== (reason !== undefined))
    throw new Error('--reason belongs to --action reject, and is needed there.')
  const change = openChange(readJson(source))
  const impactReport = impact === undefined ? undefined : readImpactReport(impact, change)
  const key = ed25519SigningKey(keyId, readFileSync(file, 'utf8'))
  showChange(change, action)
  if (impactReport !== undefined) showImpact(impactReport)
  const impactHash = impactReport === undefined ? undefined : sha256Hex(canonicalize(impactReport))
  const stepUpAuthorization = stepUpFor(change, { action, key, now, impactHash })
  console.error(`Send it within ${STEP_UP_MS / 1000} seconds.`)
  console.log(
    JSON.stringify({
      stepUpAuthorization,
      ...(reason === undefined ? {} : { rejectionReason: reason }),
      ...(impactReport === undefined ? {} : { impactReport }),
    }),
  )
}

const impactReportOf = shapeOf(ImpactReport)

/** The same checks as the service's: a mistake is reported before a signature exists. */
function readImpactReport(source: string, { kind, changeId, changeHash }: ShownChange): ImpactReport {
  if (kind !== 'policy') throw new Error('--impact belongs to the change of a policy.')
  const shaped = impactReportOf(readJson(source))
  if ('problem' in shaped) throw new Error(`--impact must be an impact report: ${shaped.problem}`)
  const { value } = shaped
  if (value.changeId !== changeId || value.changeHash !== changeHash)
    throw new Error('The impact report is of another change. Nothing was signed; simulate this one.')
  if (bytesOf(value) > IMPACT_REPORT_BYTES_MAX)
    throw new Error(
      `The impact report is longer than ${IMPACT_REPORT_BYTES_MAX} bytes of canonical JSON. Nothing was signed.`,
    )
  return value
}

function showImpact({ flips, retired, ...counts }: ImpactReport): void {
  show('You sign, too, that you saw this report of its impact:', {
    ...counts,
    flips: flips.map(flipLine),
    retired: retired.map(retiredLine),
  })
}

export type ShownChange = Members & { readonly changeId: string; readonly changeHash: string }

/**
 * Reads a change in any state.
 * @param source path, or `-` for stdin
 * @throws Error with a sentence where the source is no JSON, and where the change does not match its hash
 */
export function readChange(source: string): ShownChange {
  return shownChange(readJson(source))
}

/**
 * Reads a change that may be signed.
 * @throws Error with a sentence where it does not match its hash, or is resolved
 */
export function openChange(given: unknown): ShownChange {
  const change = shownChange(given)
  const { status } = change
  if (status !== 'PENDING_APPROVAL')
    throw new Error(`The change is ${typeof status === 'string' ? status : 'resolved'} already.`)
  return change
}

/**
 * A change in any state.
 * @throws Error with a sentence where it does not match its hash
 */
function shownChange(change: unknown): ShownChange {
  if (!isObject(change)) throw new Error('--change must be a change as the service answers it.')
  const { changeId, changeHash } = change
  const shown = shownOf(change as Members)
  const missing = Object.keys(shown).find((name) => shown[name] === undefined)
  if (missing !== undefined) throw new Error(`--change must be a change: it has no ${missing}.`)
  if (
    typeof changeId !== 'string' ||
    typeof changeHash !== 'string' ||
    sha256Hex(canonicalize(shown)) !== changeHash
  )
    throw new Error(
      'The change is not the one that its changeHash is of. Nothing was signed; fetch it again.',
    )
  return change as ShownChange
}

function showChange(change: Members, action: StepUpRequest['action']): void {
  show(`You ${action}, by this signature, this change:`, shownOf(change))
  const { warnings, diff } = change
  if (Array.isArray(warnings) && warnings.length > 0) show('The service warns:', warnings)
  if (diff !== undefined) show('Differences from the document in effect:', diff)
}

/** The body of `POST …/approve`, but for a reason. */
export function stepUpFor(
  change: ShownChange,
  {
    action,
    key,
    now,
    impactHash,
  }: { action: StepUpRequest['action']; key: SigningKey; now: Date; impactHash?: string | undefined },
) {
  return signedStepUp(stepUpPayload(change, { action, nonce: newNonce(), now, impactHash }), key)
}

export const newNonce = () => randomBytes(16).toString('hex')

/** A signed step-up as the service takes it. */
export function signedStepUp<Payload extends Readonly<Record<string, Json>>>(
  payload: Payload,
  key: SigningKey,
) {
  const { value } = signEd25519('step-up', canonicalize(payload), key)
  return { payload, keyId: key.public.keyId, algorithm: 'ed25519', signature: value }
}

/** Shows a value to the human, on stderr: a stranger's texts in it cannot move the cursor or reverse a line. */
export function show(title: string, value: unknown): void {
  const lines = JSON.stringify(value, undefined, 2).split('\n')
  console.error([title, ...lines.map((line) => `  ${printable(line)}`)].join('\n'))
}
