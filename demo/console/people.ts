// Who is at work in the demo's month: four humans, an auditor, and the agents that ask.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { ed25519SigningKey, type SigningKey } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'

export interface Caller {
  readonly callerId: string
  /** Raw. */
  readonly key: string
  /** Of SERVICE_API_KEYS. */
  readonly entry: object
}

/** A caller whose signature counts, on changes as on single actions. */
export interface Human extends Caller {
  readonly stepUp: SigningKey
  readonly approving: SigningKey
  readonly approvingPem: string
  readonly approvingPrivatePem: string
  readonly stepUpPrivatePem: string
}

const pemOf = (key: KeyObject, type: 'pkcs8' | 'spki') => key.export({ type, format: 'pem' }).toString()

function aKey(keyId: string): { key: SigningKey; publicPem: string; privatePem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const privatePem = pemOf(privateKey, 'pkcs8')
  return { key: ed25519SigningKey(keyId, privatePem), publicPem: pemOf(publicKey, 'spki'), privatePem }
}

function aCaller(callerId: string, members: object = {}): Caller {
  const key = makeRawKey()
  return { callerId, key, entry: { callerId, keyHash: sha256Hex(key), allowedCapabilities: [], ...members } }
}

function aHuman(callerId: string): Human {
  const [stepUp, approving] = [aKey('step-up'), aKey('laptop')]
  const members = {
    credentialHolderType: 'USER',
    stepUpPublicKey: stepUp.publicPem,
    approverId: callerId,
  }
  return {
    ...aCaller(callerId, members),
    stepUp: stepUp.key,
    approving: approving.key,
    approvingPem: approving.publicPem,
    approvingPrivatePem: approving.privatePem,
    stepUpPrivatePem: stepUp.privatePem,
  }
}

export const humanNames = ['dana', 'erin', 'frank', 'grace'] as const
export type HumanName = (typeof humanNames)[number]

/** Agents and what each of them may do. */
export const agents = {
  'paying-agent': ['vendor:pay'],
  'treasury-agent': ['vendor:pay'],
  'refund-desk': ['payments:refund'],
  'support-bot': ['payments:refund'],
  'deploy-bot': ['deployment:release'],
  'access-desk': ['access:grant', 'access:revoke'],
  'dba-agent': ['database:change'],
  'research-agent': ['llm:call-tool'],
  'support-assistant': ['llm:call-tool'],
  'smoke-test': ['sandbox:echo'],
} as const
export type AgentName = keyof typeof agents

export interface People {
  readonly humans: Readonly<Record<HumanName, Human>>
  readonly agents: Readonly<Record<AgentName, Caller>>
  readonly auditor: Caller
  /** All fifteen. */
  readonly all: readonly Caller[]
}

/** Keys are new each time: whoever has read this file has none of them. */
export function hirePeople(): People {
  const humans = Object.fromEntries(humanNames.map((name) => [name, aHuman(name)])) as People['humans']
  const working = Object.fromEntries(
    Object.entries(agents).map(([name, allowedCapabilities]) => [
      name,
      aCaller(name, { allowedCapabilities }),
    ]),
  ) as unknown as People['agents']
  const auditor = aCaller('auditor', { readAll: true })
  return {
    humans,
    agents: working,
    auditor,
    all: [...Object.values(humans), ...Object.values(working), auditor],
  }
}
