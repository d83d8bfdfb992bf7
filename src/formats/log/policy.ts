// C2SP tlog-policy: a file that names the trusted logs and witnesses, and the number of witnesses that is enough.
import { equalBytes } from '../bytes.ts'
import type { Sha256 } from '../merkle/tree.ts'
import { openCheckpoint, parseInteger, type OpenedCheckpoint, type Signer } from './checkpoint.ts'
import { parseVkey, type NoteCrypto, type SignatureType, type VerifierKey } from './note.ts'

interface PolicyLog {
  /** The key's name is the origin of the log. */
  readonly key: VerifierKey
  readonly url?: string
}

interface PolicyWitness {
  /** The name within the policy only; the key has its own name. */
  readonly name: string
  readonly key: VerifierKey
  readonly url?: string
}

export interface PolicyGroup {
  readonly name: string
  /** Number of members that is enough. */
  readonly threshold: number
  readonly members: readonly (PolicyWitness | PolicyGroup)[]
}

export interface LogPolicy {
  /** Any of them is enough. */
  readonly logs: readonly PolicyLog[]
  readonly witnesses: readonly PolicyWitness[]
  readonly quorum: PolicyWitness | PolicyGroup | 'none'
}

/** A policy that trusts these keys of logs and asks for no witness. */
export function policyOfKeys(keys: readonly VerifierKey[]): LogPolicy {
  return { logs: keys.map((key) => ({ key })), witnesses: [], quorum: 'none' }
}

/** The types that may sign for a log, and for a witness. A witness must state a time. */
const LOG_TYPES: readonly SignatureType[] = ['ed25519', 'ml-dsa-44-cosignature']
const WITNESS_TYPES: readonly SignatureType[] = ['ed25519-cosignature', 'ml-dsa-44-cosignature']

/** The greatest number of logs, of witnesses and of groups; the specification asks for 32. */
const MAX_OF_A_KIND = 256

/**
 * @param file bytes of the file, or text that was decoded from them as UTF-8
 * @throws Error that names the line, from 1, and its mistake
 */
export function parsePolicy(file: string | Uint8Array, sha256: Sha256): LogPolicy {
  const logs: PolicyLog[] = []
  const witnesses: PolicyWitness[] = []
  const defined = new Map<string, PolicyWitness | PolicyGroup>()
  const inGroups = new Set<string>()
  let quorum: LogPolicy['quorum'] | undefined

  const keyOf = (
    vkey: string,
    types: readonly SignatureType[],
    others: readonly PolicyLog[],
  ): VerifierKey => {
    const key = parseVkey(utf8(vkey), sha256)
    if (!types.includes(key.type))
      throw new Error(`a key of type ${key.type} cannot sign here; one of type ${types.join(' or ')} can`)
    const same = others.find((other) => equalBytes(other.key.publicKey, key.publicKey))
    if (same !== undefined) throw new Error(`the public key is that of '${same.key.name}' already`)
    return key
  }
  const lookUp = (name: string) => {
    const found = defined.get(name)
    if (found === undefined) throw new Error(`'${utf8(name)}' is not defined on a line before`)
    return found
  }
  const define = <Kind extends PolicyWitness | PolicyGroup>(name: string, made: Kind): Kind => {
    if (name === 'none') throw new Error("the name 'none' is reserved")
    if (defined.has(name)) throw new Error(`'${utf8(name)}' is defined twice`)
    if (defined.size >= 2 * MAX_OF_A_KIND) throw new Error('there are too many witnesses and groups')
    defined.set(name, made)
    return made
  }

  const keywords: Readonly<Record<string, (items: readonly string[]) => void>> = {
    log([vkey, url, ...others]) {
      if (vkey === undefined || others.length > 0) throw new Error('a log has a key and at most a URL')
      if (logs.length >= MAX_OF_A_KIND) throw new Error('there are too many logs')
      logs.push({ key: keyOf(vkey, LOG_TYPES, logs), ...urlOf(url) })
    },
    witness([name, vkey, url, ...others]) {
      if (name === undefined || vkey === undefined || others.length > 0)
        throw new Error('a witness has a name, a key and at most a URL')
      const key = keyOf(vkey, WITNESS_TYPES, witnesses)
      witnesses.push(define(name, { name: utf8(name), key, ...urlOf(url) }))
    },
    group([name, count, ...names]) {
      if (name === undefined || count === undefined || names.length === 0)
        throw new Error('a group has a name, all, any or a number, and members')
      const members = names.map((member) => {
        const found = lookUp(member)
        if (inGroups.has(member)) throw new Error(`'${utf8(member)}' is a member of a group already`)
        inGroups.add(member)
        return found
      })
      define(name, { name: utf8(name), threshold: thresholdOf(utf8(count), members.length), members })
    },
    quorum([name, ...others]) {
      if (name === undefined || others.length > 0) throw new Error('a quorum is one name')
      if (quorum !== undefined) throw new Error('there is a quorum on a line before')
      quorum = name === 'none' ? 'none' : lookUp(name)
    },
  }

  for (const [i, line] of octets(file).split('\n').entries()) {
    try {
      // DEL is not allowed in a policy either.
      // oxlint-disable-next-line no-control-regex -- they are what is refused
      if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) throw new Error('it holds a control character')
      const [keyword, ...items] = line.split(/[ \t]+/).filter((item) => item !== '')
      if (keyword === undefined || keyword.startsWith('#')) continue
      if (!Object.hasOwn(keywords, keyword)) throw new Error(`'${utf8(keyword)}' is not one of its keywords`)
      keywords[keyword]!(items)
    } catch (error) {
      throw new Error(`line ${i + 1} of the policy: ${(error as Error).message}`, { cause: error })
    }
  }
  if (quorum === undefined) throw new Error('the policy has no quorum line')
  return { logs, witnesses, quorum }
}

function thresholdOf(count: string, members: number): number {
  if (count === 'all') return members
  const threshold = count === 'any' ? 1 : parseInteger(count, 'the number of members')
  if (threshold < 1 || threshold > members)
    throw new Error(`the number of members must be from 1 to ${members}, and is ${threshold}`)
  return threshold
}

const urlOf = (url: string | undefined) => (url === undefined ? {} : { url: utf8(url) })

/** One character for each octet: names are compared as octets, and need not be UTF-8. */
function octets(file: string | Uint8Array): string {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

function utf8(item: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Uint8Array.from(item, (character) => character.charCodeAt(0)),
  )
}

/** A witness of the policy that cosigned. */
interface WitnessSigner extends Signer {
  /** The name in the policy. */
  readonly name: string
}

export interface TrustedCheckpoint extends OpenedCheckpoint {
  readonly cosignedBy: readonly WitnessSigner[]
}

/**
 * Reads a checkpoint and checks it by a policy: one of its logs and a quorum of its witnesses must have signed it.
 * @throws the errors of `openCheckpoint`, and Error when too few witnesses cosigned
 */
export function openByPolicy(
  note: string | Uint8Array,
  policy: LogPolicy,
  crypto: NoteCrypto,
): TrustedCheckpoint {
  const keys = {
    logs: policy.logs.map(({ key }) => key),
    witnesses: policy.witnesses.map(({ key }) => key),
  }
  const opened = openCheckpoint(note, keys, crypto)
  const cosignedBy = opened.cosignedBy.map((signer) => ({
    name: policy.witnesses.find(({ key }) => key === signer.key)!.name,
    ...signer,
  }))
  if (!meetsQuorum(policy.quorum, opened.cosignedBy)) {
    const names = cosignedBy.map(({ name }) => `'${name}'`).join(', ')
    throw new Error(
      `the quorum '${nameOf(policy.quorum)}' is not met: the checkpoint is cosigned by ${names || 'no witness'}`,
    )
  }
  return { ...opened, cosignedBy }
}

const nameOf = (quorum: LogPolicy['quorum']) => (quorum === 'none' ? quorum : quorum.name)

/** Whether these cosignatures meet the quorum. */
export function meetsQuorum(quorum: LogPolicy['quorum'], cosignedBy: readonly Signer[]): boolean {
  if (quorum === 'none') return true
  if ('key' in quorum) return cosignedBy.some(({ key }) => key === quorum.key)
  return quorum.members.filter((member) => meetsQuorum(member, cosignedBy)).length >= quorum.threshold
}
