// A caller with the rights of its key: to act, to read and to approve (decisions §2).

/** A passkey by which a human resolves changes. */
export type StepUpPasskey = {
  /** PEM, Ed25519 or P-256. */
  readonly publicKeyPem: string
  readonly rpId: string
  readonly origins: readonly string[]
  readonly backupEligible: boolean
  /** base64url; the passkey that a page asks for. Undefined: the human chooses. */
  readonly credentialId?: string
}

/** A caller by one of its keys, with defaults filled in. Scope belongs to the key, so two keys of a caller may differ. */
export interface Caller {
  readonly callerId: string
  /** SHA-256 of the raw key, 64 lowercase hex characters. */
  readonly keyHash: string
  readonly allowedPrincipalIds: readonly string[]
  /** As configured, including `*`. */
  readonly allowedCapabilities: readonly string[]
  readonly unrestrictedCapabilities: boolean
  readonly credentialHolderType: 'USER' | 'ROLE' | 'SERVICE' | 'ORGANIZATION'
  /** PEM, Ed25519. */
  readonly stepUpPublicKey?: string
  readonly stepUpPasskey?: StepUpPasskey
  /** The approver that this human is: the caller sees its inbox and may decline for it. It gives no right to approve. */
  readonly approverId?: string
  readonly readAll: boolean
  /** ISO 8601. From then on the key is unknown. */
  readonly expiresAt?: string
}

/** The name of a key for people: enough of its hash to distinguish it from every other key, and useless for a login. */
export function keyIdOf(keyHash: string): string {
  return keyHash.slice(0, 16)
}

/** Whether the key belongs to a human who can approve what others propose. */
export function canApproveChanges({ credentialHolderType, stepUpPublicKey, stepUpPasskey }: Caller): boolean {
  return credentialHolderType === 'USER' && (stepUpPublicKey ?? stepUpPasskey) !== undefined
}

/** The reason why two keys cannot both be in effect: people and changes distinguish two humans by these members (decisions §7). */
export type Clash = 'callerId' | 'stepUpPublicKey' | 'stepUpPasskey' | 'approverId'

type Identity = Pick<Caller, 'callerId' | 'stepUpPublicKey' | 'stepUpPasskey' | 'approverId'>

/** @returns each member of `one` that belongs to another caller */
export function clashesOf(one: Identity, other: Identity): Clash[] {
  if (one.callerId === other.callerId) return []
  const clashes: Clash[] = []
  // People take such names for the same name: they could be the two humans of a change.
  if (one.callerId.toLowerCase() === other.callerId.toLowerCase()) clashes.push('callerId')
  // Two names for one human would let this human approve a change that they proposed.
  const held = new Set([other.stepUpPublicKey, other.stepUpPasskey?.publicKeyPem])
  if (one.stepUpPublicKey !== undefined && held.has(one.stepUpPublicKey)) clashes.push('stepUpPublicKey')
  if (one.stepUpPasskey !== undefined && held.has(one.stepUpPasskey.publicKeyPem))
    clashes.push('stepUpPasskey')
  if (one.approverId !== undefined && one.approverId === other.approverId) clashes.push('approverId')
  return clashes
}

/** Whether this caller may read everybody's evidence: humans and auditors. Programs need neither that nor a page of the console. */
export function readsEverything({ credentialHolderType, readAll }: Caller): boolean {
  return credentialHolderType === 'USER' || readAll
}

/** Whether the key belongs to an auditor that changes nothing: `readAll` without a capability, and no human's key. */
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
