// The keys that a reader trusts to sign checkpoints of logs: the saved description of a service's logs, or a C2SP tlog-policy.
import { errorText } from '../text/error-text.ts'
import type { Json } from '../json/canonical.ts'
import { parseCheckpoint, type OpenedCheckpoint } from '../log/checkpoint.ts'
import {
  parseNote,
  parseVkey,
  UnknownKeyType,
  type NoteCrypto,
  type SignatureType,
  type VerifierKey,
} from '../log/note.ts'
import { openByPolicy, parsePolicy, policyOfKeys, type LogPolicy } from '../log/policy.ts'
import type { Sha256 } from '../merkle/tree.ts'
import { isMembers } from '../json/members.ts'
import { parseEvidence } from './parse.ts'
import { Unusable } from './unusable.ts'

export interface LogTrust {
  readonly policy: LogPolicy
  /** Whether each type of key must have signed, as for a description, which lists all. Of a policy's log keys any is enough. */
  readonly everyType: boolean
}

/**
 * @param given the answer of GET /.well-known/countersign-log, as text or parsed, or the text of a C2SP tlog-policy: any text that does not
 *   begin with `{`
 * @throws Unusable that names the wrong part
 */
export function readLogTrust(given: unknown, sha256: Sha256): LogTrust {
  if (typeof given !== 'string') return described(given as Json, sha256)
  if (given.startsWith('{')) return described(parseEvidence(given, 'The log description'), sha256)
  try {
    return { policy: parsePolicy(given, sha256), everyType: false }
  } catch (error) {
    throw new Unusable(
      `The log description does not begin with '{' and is no policy of logs either: ${errorText(error)}.`,
    )
  }
}

function described(description: Json, sha256: Sha256): LogTrust {
  const logs = isMembers(description) ? description['logs'] : undefined
  if (!Array.isArray(logs))
    throw new Unusable(
      'The log description has no list `logs`: save the answer of GET /.well-known/countersign-log.',
    )
  const keys = (logs as readonly Json[]).flatMap((log, i) => keysOfLog(log, `Log ${i + 1}`, sha256))
  if (keys.length === 0)
    throw new Unusable('The log description holds no key of a known type, so nothing can be verified by it.')
  return { policy: policyOfKeys(keys), everyType: true }
}

function keysOfLog(log: Json, which: string, sha256: Sha256): VerifierKey[] {
  const { origin, vkeys } = isMembers(log) ? log : {}
  if (typeof origin !== 'string' || !Array.isArray(vkeys))
    throw new Unusable(`${which} of the log description has no \`origin\` or no list \`vkeys\`.`)
  return (vkeys as readonly Json[]).flatMap((vkey) => {
    try {
      const key = parseVkey(typeof vkey === 'string' ? vkey : '', sha256)
      if (key.name !== origin) throw new Error(`the key '${key.name}' is of another name`)
      if (key.type === 'ed25519-cosignature') throw new Error('a key for cosignatures signs for no log')
      return key
    } catch (error) {
      // Ignored, like keys of unknown types in a key set: a later version may have more types.
      if (error instanceof UnknownKeyType) return []
      throw new Unusable(`${which} of the log description has a wrong key: ${errorText(error)}.`)
    }
  })
}

/** A checkpoint whose keys are not given: with them it may be valid or not. The message is a sentence without its full stop. */
export class LogKeyNotGiven extends Error {
  readonly origin: string
  constructor(origin: string, message: string) {
    super(message)
    this.origin = origin
  }
}

/**
 * Checks the signers of a checkpoint.
 * @throws LogKeyNotGiven when the result depends on keys that the reader did not give, and Error that names the failed check
 */
export function openTrusted(
  note: string,
  trust: LogTrust | undefined,
  crypto: NoteCrypto,
): OpenedCheckpoint & { readonly witnesses: readonly string[] } {
  const { text, lines } = parseNote(note)
  const { origin } = parseCheckpoint(text)
  const named = JSON.stringify(origin)
  if (trust === undefined) throw new LogKeyNotGiven(origin, `no description of the log ${named} is given`)
  const { policy, everyType } = trust
  const keys = policy.logs.map(({ key }) => key).filter(({ name }) => name === origin)
  const isGiven = (keyId: string) => keys.some((key) => key.keyId === keyId)
  const byUnknown = lines.some(({ name, keyId }) => name === origin && !isGiven(keyId))
  const bySome = lines.some(({ name, keyId }) => name === origin && isGiven(keyId))
  const notGiven = () =>
    new LogKeyNotGiven(origin, `no key of the log ${named} that signed its checkpoint is given`)
  if (!bySome && (byUnknown || keys.length === 0)) throw notGiven()
  const opened = openByPolicy(note, policy, crypto)
  const signedBy = new Set(opened.signedBy.map(({ key }) => key.type))
  const unsigned = everyType ? keys.find(({ type }) => !signedBy.has(type)) : undefined
  if (unsigned === undefined) return { ...opened, witnesses: opened.cosignedBy.map(({ name }) => name) }
  if (byUnknown) throw notGiven()
  throw new Error(`the checkpoint is not signed by the ${ALGORITHMS[unsigned.type]} key of its log`)
}

const ALGORITHMS: Readonly<Record<SignatureType, string>> = {
  ed25519: 'Ed25519',
  'ed25519-cosignature': 'Ed25519',
  'ml-dsa-44-cosignature': 'ML-DSA-44',
}
