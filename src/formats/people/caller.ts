// A caller as its key says: what it may do, read and approve (decisions §2).

/** A passkey by which a human resolves changes. */
export type StepUpPasskey = {
  /** PEM, Ed25519 or P-256. */
  readonly publicKeyPem: string
  readonly rpId: string
  readonly origins: readonly string[]
  readonly backupEligible: boolean
  /** base64url: which passkey a page asks; undefined: the human chooses. */
  readonly credentialId?: string
}

/** A caller by one of its keys, with defaults filled in. Scope belongs to the key: two keys of a caller may differ. */
export interface Caller {
  readonly callerId: string
  /** SHA-256 of the raw key, 64 lowercase hex characters. */
  readonly keyHash: string
  readonly allowedPrincipalIds: readonly string[]
  /** As configured, `*` included. */
  readonly allowedCapabilities: readonly string[]
  readonly unrestrictedCapabilities: boolean
  readonly credentialHolderType: 'USER' | 'ROLE' | 'SERVICE' | 'ORGANIZATION'
  /** PEM, Ed25519. */
  readonly stepUpPublicKey?: string
  readonly stepUpPasskey?: StepUpPasskey
  /** The approver that this human is: whose inbox they see, and as whom they may decline. It approves nothing. */
  readonly approverId?: string
  readonly readAll: boolean
  /** ISO 8601: the key is unknown from then on. */
  readonly expiresAt?: string
}

/** The name of a key that people see: enough of its hash to tell it from every other, and nothing to log in with. */
export function keyIdOf(keyHash: string): string {
  return keyHash.slice(0, 16)
}

/** Whether the key belongs to a human who can approve what others propose. */
export function canApproveChanges({ credentialHolderType, stepUpPublicKey, stepUpPasskey }: Caller): boolean {
  return credentialHolderType === 'USER' && (stepUpPublicKey ?? stepUpPasskey) !== undefined
}

/** Why two keys cannot both be in effect: people and changes tell two humans apart by these members (decisions §7). */
export type Clash = 'callerId' | 'stepUpPublicKey' | 'stepUpPasskey' | 'approverId'

type Identity = Pick<Caller, 'callerId' | 'stepUpPublicKey' | 'stepUpPasskey' | 'approverId'>

/** @returns each member of `one` by which it is taken for another caller */
export function clashesOf(one: Identity, other: Identity): Clash[] {
  if (one.callerId === other.callerId) return []
  const clashes: Clash[] = []
  // Two names that a reader takes for one: they could be the two humans of a change.
  if (one.callerId.toLowerCase() === other.callerId.toLowerCase()) clashes.push('callerId')
  // Two names for one human would let that human approve what he proposed himself.
  const held = new Set([other.stepUpPublicKey, other.stepUpPasskey?.publicKeyPem])
  if (one.stepUpPublicKey !== undefined && held.has(one.stepUpPublicKey)) clashes.push('stepUpPublicKey')
  if (one.stepUpPasskey !== undefined && held.has(one.stepUpPasskey.publicKeyPem))
    clashes.push('stepUpPasskey')
  if (one.approverId !== undefined && one.approverId === other.approverId) clashes.push('approverId')
  return clashes
}

/** Whether everybody's evidence is for this caller: humans and auditors. Programs have no use for it, nor for a page of the console. */
export function readsEverything({ credentialHolderType, readAll }: Caller): boolean {
  return credentialHolderType === 'USER' || readAll
}

/** Whether it is an auditor's key that changes nothing: `readAll` without a capability, and no human's. */
export function onlyReads({ credentialHolderType, readAll, allowedCapabilities }: Caller): boolean {
  return readAll && credentialHolderType !== 'USER' && allowedCapabilities.length === 0
}

/** The owner whose rows a caller may read; null for humans, auditors and disabled authentication, who read everybody's (decisions §2). */
export function readableOwner(caller: Caller | undefined): string | null {
  return caller === undefined || readsEverything(caller) ? null : caller.callerId
}

/** Fills in the defaults of decisions §2. */
export function fullCaller(
  given: Omit<Partial<Caller>, 'unrestrictedCapabilities'> & Pick<Caller, 'callerId' | 'keyHash'>,
): Caller {
  return {
    allowedPrincipalIds: [given.callerId],
    allowedCapabilities: [],
    credentialHolderType: 'SERVICE',
    readAll: false,
    ...given,
    unrestrictedCapabilities: given.allowedCapabilities?.includes('*') ?? false,
  }
}
