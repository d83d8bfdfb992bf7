// countersign callers: issue makes a raw key and its entry, for SERVICE_API_KEYS (decisions §2) or for governance; the other commands manage
// keys of governance, on a running service (docs/handbook/callers.md). A raw key never gets there: it is made where its holder is.
import { readFileSync } from 'node:fs'
import { makeRawKey, parseCallers } from '../core/callers/callers.ts'
import { ConfigError } from '../core/errors/config-error.ts'
import { isObject } from '../formats/json/fields.ts'
import { printable } from '../formats/text/printable.ts'
import { keyIdOf } from '../formats/people/caller.ts'
import type { CallerKey } from '../formats/schemas/caller-key.ts'
import { changePaths } from '../formats/change-paths.ts'
import { sha256Hex } from '../store/sha256.ts'
import type { Given } from './command.ts'
import type { callers } from './commands.ts'
import { proposeChange } from './changes/propose.ts'
import { jsonOf, pagesOf } from './service.ts'

/** Which argument of `callers issue` a member of the entry comes from. */
const ARGUMENT: Readonly<Record<string, string>> = {
  callerId: '<callerId>',
  allowedPrincipalIds: '--principal',
  allowedCapabilities: '--capability',
  credentialHolderType: '--holder-type',
  stepUpPublicKey: '--step-up-public-key',
  approverId: '--approver',
  expiresAt: '--expires-at',
}

/**
 * Prints the raw key and the entry to standard output, and an explanation to standard error. Stores nothing.
 *
 * @throws Error with the mistakes of the entry, each by the argument that it came from
 */
export function issueCaller({ callerId, ...options }: Given<typeof callers.issue>): void {
  // As a capability `*` means all; here it would be a principal of that name, which is surely a mistake.
  if (options.principal?.includes('*'))
    throw new Error("--principal has no '*' for all: name each principal that the caller may assert.")
  const rawKey = makeRawKey()
  const keyHash = sha256Hex(rawKey)
  const entry = JSON.stringify({
    callerId,
    keyHash,
    allowedPrincipalIds: options.principal,
    allowedCapabilities: options.capability,
    credentialHolderType: options.holderType,
    stepUpPublicKey:
      options.stepUpPublicKey === undefined ? undefined : readFileSync(options.stepUpPublicKey, 'utf8'),
    approverId: options.approver,
    readAll: options.readAll || undefined,
    expiresAt: options.expiresAt,
  })
  checkEntry(entry)
  // The two lines that a script needs go to stdout, the explanation to stderr.
  console.error(
    `The raw key, for the caller; it is not shown again. Then its entry, for the array in SERVICE_API_KEYS, or for a human to propose (countersign callers propose). Its keyId is ${keyIdOf(keyHash)}.`,
  )
  console.log(rawKey)
  console.log(entry)
}

function checkEntry(entry: string): void {
  try {
    parseCallers(`[${entry}]`, '')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const named = error.problems.map((problem) =>
      problem.replace(/^\[0\]\.(\w+)/, (_, member: string) => ARGUMENT[member] ?? member),
    )
    throw new Error(named.join('\n'), { cause: error })
  }
}

/**
 * Prints a line for each key: caller, keyId, status, source, type of holder, capabilities, other permissions; the approver.
 * @throws Error with the service's answer
 */
export async function listCallerKeys({ all, ...service }: Given<typeof callers.list>): Promise<void> {
  for await (const answer of pagesOf(service, '/caller-keys')) {
    const { callerKeys } = jsonOf(answer) as { callerKeys: readonly CallerKey[] }
    for (const key of callerKeys) {
      if (!all && key.status !== 'IN_EFFECT' && key.status !== 'REFUSED') continue
      const parts = [
        key.callerId,
        key.keyId,
        key.status,
        key.source,
        key.credentialHolderType ?? '-',
        key.allowedCapabilities?.join(',') ?? '-',
        ...(key.readAll === true ? ['reads everything'] : []),
        ...(key.approverId === undefined ? [] : [`is approver ${key.approverId}`]),
        ...(key.stepUpPublicKey === undefined ? [] : ['step-up key']),
        ...(key.stepUpPasskey === undefined ? [] : ['step-up passkey']),
        ...(key.expiresAt === undefined ? [] : [`until ${key.expiresAt}`]),
        ...(key.issuedBy === undefined ? [] : [`issued by ${key.issuedBy}`]),
        ...(key.revokedBy === undefined ? [] : [`revoked by ${key.revokedBy}`]),
      ]
      console.log(printable(parts.join('  ')))
    }
  }
}

/**
 * Proposes to issue the key of an entry, and prints the change.
 * @throws Error where the last line is no entry, or with the service's answer
 */
export async function proposeCallerKey({
  file,
  reason,
  ...service
}: Given<typeof callers.propose>): Promise<void> {
  const last = readFileSync(file === '-' ? 0 : file, 'utf8')
    .trimEnd()
    .split('\n')
    .at(-1)
  let members: unknown
  try {
    members = JSON.parse(last ?? '')
  } catch {
    // Not quoted: it may be the raw key.
  }
  if (!isObject(members))
    throw new Error('The last line must be the entry that countersign callers issue prints.')
  await proposeChange(service, changePaths['caller-key'], { action: 'issue', ...members, reason })
}

/** Proposes to revoke a key, and prints the change. */
export async function proposeRevocation({
  callerId,
  keyId,
  reason,
  ...service
}: Given<typeof callers.revoke>): Promise<void> {
  await proposeChange(service, changePaths['caller-key'], { action: 'revoke', callerId, keyId, reason })
}
