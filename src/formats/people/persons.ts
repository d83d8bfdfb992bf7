// Persons (decisions §13): the names and keys that belong to one human. Acts, approvals and checks count by person, so that two names do not
// make two people of one human.
import type { Caller } from './caller.ts'

/** The statement of one entry of a register: its names and public keys belong to one human. */
export interface Naming {
  readonly callerId?: string
  readonly approverId?: string
  /** SPKI. */
  readonly publicKeyPems: readonly string[]
}

/** Plain data, because it is sent to the threads. A name that is not included is a person of its own. */
export interface Persons {
  /** By the name as `foldName` writes it; callerIds and approverIds are treated alike. */
  readonly ofName: ReadonlyMap<string, string>
  /** The approverIds of each person, sorted. */
  readonly approverIds: ReadonlyMap<string, readonly string[]>
  /** `ofName` as a JSON object for statements, without entries whose name is the person's. */
  readonly ofNameJson: string
}

export function namingOfCaller({
  callerId,
  approverId,
  stepUpPublicKey,
  stepUpPasskey,
}: Pick<Caller, 'callerId' | 'approverId' | 'stepUpPublicKey' | 'stepUpPasskey'>): Naming {
  return {
    callerId,
    ...(approverId === undefined ? {} : { approverId }),
    publicKeyPems: [stepUpPublicKey, stepUpPasskey?.publicKeyPem].filter((pem) => pem !== undefined),
  }
}

export function namingOfApprover({
  approverId,
  publicKeyPem,
}: {
  readonly approverId: string
  readonly publicKeyPem: string
}): Naming {
  return { approverId, publicKeyPems: [publicKeyPem] }
}

/** Joins entries that share a name or a key, over any number of steps. */
export function joinPersons(namings: readonly Naming[]): Persons {
  // A forest: each name and each key points towards the member that represents its person.
  const parents = new Map<string, string>()
  const rootOf = (member: string): string => {
    const parent = parents.get(member) ?? member
    if (parent === member) return member
    const root = rootOf(parent)
    parents.set(member, root)
    return root
  }
  const approvers = new Set<string>()
  for (const naming of namings) {
    if (naming.approverId !== undefined) approvers.add(naming.approverId)
    const [first, ...others] = membersOf(naming)
    for (const other of others) parents.set(rootOf(other), rootOf(first!))
  }
  const ofName = new Map<string, string>()
  for (const { callerId, approverId } of namings)
    for (const name of [callerId, approverId])
      if (name !== undefined) ofName.set(foldName(name), rootOf(foldName(name)))
  const sorted = [...approvers].toSorted()
  return {
    ofName,
    approverIds: Map.groupBy(sorted, (approverId) => ofName.get(foldName(approverId))!),
    ofNameJson: JSON.stringify(Object.fromEntries([...ofName].filter(([name, person]) => name !== person))),
  }
}

/** Names come first, so that a name represents the person. */
function membersOf({ callerId, approverId, publicKeyPems }: Naming): string[] {
  const names = [callerId, approverId].flatMap((name) => (name === undefined ? [] : [foldName(name)]))
  return [...names, ...publicKeyPems.map(keyBytesOf)]
}

/** People read names that differ only in case as the same name. PostgreSQL folds them alike with `lower(… COLLATE "C")`. */
function foldName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The Base64 of a PEM, regardless of its line breaks. A space distinguishes it from every name. */
function keyBytesOf(pem: string): string {
  return ` ${pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')}`
}

/** The person that a callerId, a principalId or an approverId names. */
export function personOf({ ofName }: Persons, name: string): string {
  const folded = foldName(name)
  return ofName.get(folded) ?? folded
}

export function isSamePerson(persons: Persons, one: string, other: string): boolean {
  return personOf(persons, one) === personOf(persons, other)
}

/**
 * The approverIds of the persons behind an execution, whose approvals do not count for it.
 * @param initiators the execution's callerId and principalId
 * @returns sorted
 */
export function approversBehind(persons: Persons, initiators: readonly string[]): string[] {
  const behind = new Set(initiators.map((name) => personOf(persons, name)))
  return [...behind].flatMap((person) => persons.approverIds.get(person) ?? []).toSorted()
}

/** Whether an approver is a person behind an execution. @param initiators the execution's callerId and principalId */
export function isBehind(persons: Persons, approverId: string, initiators: readonly string[]): boolean {
  return initiators.some((name) => isSamePerson(persons, name, approverId))
}

/**
 * Approvers whose approvals count for an execution: the first of each person, excluding persons behind the execution.
 * @param approverIds in the order of preference
 * @param initiators the execution's callerId and principalId
 */
export function countedApprovers(
  persons: Persons,
  approverIds: readonly string[],
  initiators: readonly string[],
): string[] {
  const seen = new Set<string>()
  return approverIds.filter((approverId) => {
    const person = personOf(persons, approverId)
    if (seen.has(person) || isBehind(persons, approverId, initiators)) return false
    seen.add(person)
    return true
  })
}

/**
 * Finds another person who already holds a public key of `proposed`; undefined: there is none. Persons are compared only by names: sharing
 * the key does not make them one person.
 * @param standing every entry of every register, including revoked ones
 * @returns completes "this public key is that of …"
 */
export function otherHolder(standing: readonly Naming[], proposed: Naming): string | undefined {
  if (proposed.publicKeyPems.length === 0) return undefined
  const persons = joinPersons([...standing, proposed].map((one) => ({ ...one, publicKeyPems: [] })))
  const keys = new Set(proposed.publicKeyPems.map(keyBytesOf))
  const holder = standing.find(
    (one) =>
      one.publicKeyPems.some((pem) => keys.has(keyBytesOf(pem))) &&
      !isSamePerson(persons, nameOf(one), nameOf(proposed)),
  )
  if (holder === undefined) return undefined
  return holder.callerId === undefined ? `approver '${nameOf(holder)}'` : `'${holder.callerId}'`
}

function nameOf({ callerId, approverId = '' }: Naming): string {
  return callerId ?? approverId
}
