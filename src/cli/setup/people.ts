// The people of a trial: keys in files, entries for the list of callers, profiles for the commands.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeRawKey } from '../../core/callers/callers.ts'
import { ed25519SigningKey, type SigningKey } from '../../core/signing/keys.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { makeKeyPair } from '../approver.ts'
import type { Profile } from '../profile.ts'

interface Caller {
  readonly rawKey: string
  /** For SERVICE_API_KEYS. */
  readonly entry: object
}

export interface Person extends Caller {
  readonly stepUp: SigningKey
}

const AGENT = 'paying-agent'

/** Their callerIds. */
export const peopleNames: readonly string[] = ['alice', 'bob', 'dana', AGENT]

export const APPROVER = { approverId: 'dana', keyId: 'laptop' } as const
/** The private key is in the same folder. */
export const APPROVER_KEY = join('dana', 'laptop.public.pem')

export function makeCaller(about: { readonly callerId: string }): Caller {
  const rawKey = makeRawKey()
  return { rawKey, entry: { ...about, keyHash: sha256Hex(rawKey) } }
}

/**
 * Writes keys and profiles of Alice, Bob, Dana and an agent.
 * @param folder an existing one
 * @param url of the service, for the profiles
 * @returns the governors first
 */
export function makeHumans(folder: string, url: string): [Person, Person, Caller, Caller] {
  const governor = (name: string): Person => {
    const stepUp = makeKeyPair(join(folder, name), 'step-up')
    const about = { callerId: name, credentialHolderType: 'USER', stepUpPublicKey: stepUp.publicPem }
    const caller = makeCaller(about)
    save(folder, name, { url, apiKey: caller.rawKey, stepUpKey: join(name, 'step-up.private.pem') })
    return { ...caller, stepUp: ed25519SigningKey('step-up', stepUp.privatePem) }
  }
  const [alice, bob] = [governor('alice'), governor('bob')]
  const { approverId, keyId } = APPROVER
  makeKeyPair(join(folder, approverId), keyId)
  const about = { callerId: 'dana', credentialHolderType: 'USER', approverId }
  const dana = makeCaller(about)
  const key = APPROVER_KEY.replace('.public.', '.private.')
  save(folder, 'dana', { url, apiKey: dana.rawKey, approver: { approverId, keyId, key } })
  const paying = { callerId: AGENT, allowedCapabilities: ['vendor:pay', 'llm:call-tool'] }
  const agent = makeCaller(paying)
  save(folder, 'agent', { url, apiKey: agent.rawKey })
  return [alice, bob, dana, agent]
}

function save(folder: string, name: string, profile: Profile): void {
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(profile, undefined, 2)}\n`, { mode: 0o600 })
}
