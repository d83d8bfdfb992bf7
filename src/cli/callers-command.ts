// countersign callers issue: a raw key and its entry, for SERVICE_API_KEYS (decisions §2) or for governance.
import { readFileSync } from 'node:fs'
import { makeRawKey, parseCallers } from '../core/callers/callers.ts'
import { keyIdOf } from '../formats/people/caller.ts'
import { ConfigError } from '../core/errors/config-error.ts'
import { sha256Hex } from '../store/sha256.ts'

export interface CallerRequest {
  readonly capability?: string[]
  readonly principal?: string[]
  readonly holderType?: string
  readonly readAll?: true
  readonly stepUpPublicKey?: string
  readonly approver?: string
  /** RFC 3339. */
  readonly expiresAt?: string
}

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
 * Prints the raw key and the entry to standard output, and what they are to standard error. Stores nothing.
 *
 * @throws with the mistakes of the entry, each by the argument that it came by
 */
export function issueCaller(callerId: string, options: CallerRequest): void {
  // As a capability it means all; here it would be a principal of that name, which nobody wants.
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
    readAll: options.readAll,
    expiresAt: options.expiresAt,
  })
  checkEntry(entry)
  // The two lines a script wants go to stdout, the words around them do not.
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
