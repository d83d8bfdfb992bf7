// The changes that two humans approve before a gateway works, decided by the humans of a trial: the pinned policy, the connector and the
// agent's key.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceWholeFile } from '../../core/files/whole-file.ts'
import { ed25519SigningKey } from '../../core/signing/keys.ts'
import { keyIdOf } from '../../formats/people/caller.ts'
import { policyFileOf, type GatewayFile, type Lock } from '../../mcp/index.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { serviceOf, stepUpKeyOf } from '../profile.ts'
import { get, jsonOf } from '../service.ts'
import { policyIn } from '../simulate.ts'
import { decide } from './authority.ts'
import { makeCaller } from './people.ts'

const REASON = 'A trial of the MCP gateway.'
/** The longest that a connector may take. */
const TIMEOUT_MS = 30_000

/**
 * Proposes and approves the changes that are not in effect yet; a second start changes nothing.
 * @param given.humans folder with the profiles of Alice and Bob that `setup humans` has left
 * @param given.agentFile where the agent's profile is written
 * @throws Error that names the profile that is missing, or has the service's answer
 */
export async function approveTrial(given: {
  readonly gateway: GatewayFile
  readonly lock: Lock
  readonly humans: string
  readonly agentFile: string
  readonly url: string | undefined
}): Promise<void> {
  const { gateway, lock, agentFile } = given
  const [alice, bob] = [humanIn('alice', given), humanIn('bob', given)]
  const { url } = alice
  const humans = { proposer: alice, checker: bob }
  const asAlice = { url, key: alice.rawKey }
  const capability = `mcp:${gateway.alias}`

  const { name, version } = lock.policy
  const policy = await get(asAlice, `/policies/${name}/${version}`, { accept: [404] })
  if (policy.status === 404) {
    const proposedContent = policyIn(policyFileOf(gateway.folder, lock))
    // Otherwise calls could still name an earlier version, and with it the tools as they were.
    const inEffect = await get(asAlice, `/policies/in-effect?capability=${capability}&pageSize=100`)
    const { policies } = jsonOf(inEffect) as {
      policies: readonly { name: string; version: string }[]
    }
    const retires = policies.filter((one) => one.name === name).map((one) => one.version)
    await decide(url, `/policies/${name}/${version}/pending-changes`, humans, {
      reason: REASON,
      proposedContent,
      ...(retires.length > 0 && { retires }),
    })
  }

  const { externalConnectors } = jsonOf(await get(asAlice, '/external-connectors')) as {
    externalConnectors: readonly { capability: string; endpointUrl: string }[]
  }
  const endpointUrl = `${gateway.audience ?? `http://127.0.0.1:${gateway.port}`}/`
  const registered = externalConnectors.find((one) => one.capability === capability)
  if (registered?.endpointUrl !== endpointUrl)
    await decide(url, '/external-connectors/changes', humans, {
      action: 'register',
      capability,
      endpointUrl,
      policy: name,
      allowedParameters: ['arguments', 'toolHash'],
      timeoutMs: TIMEOUT_MS,
      readBack: true,
      reason: REASON,
    })

  if (existsSync(agentFile)) return
  const callerId = `mcp-${gateway.alias}`
  const agent = makeCaller({ callerId })
  const keyHash = sha256Hex(agent.rawKey)
  await decide(url, '/caller-keys/changes', humans, {
    action: 'issue',
    callerId,
    keyHash,
    allowedCapabilities: [capability],
    reason: `${REASON} The key ${keyIdOf(keyHash)} is the agent's.`,
  })
  // Last, so that an existing file always has a key that counts.
  replaceWholeFile(agentFile, `${JSON.stringify({ url, apiKey: agent.rawKey }, undefined, 2)}\n`, 0o600)
}

function humanIn(
  name: string,
  { humans, url: given }: { readonly humans: string; readonly url: string | undefined },
) {
  const profile = join(humans, `${name}.json`)
  if (!existsSync(profile))
    throw new Error(
      `${profile} is not there: a trial needs the humans of \`countersign setup humans\`, or name their folder by --humans.`,
    )
  const { url, key } = serviceOf({ profile, url: given, apiKey: undefined })
  const pem = readFileSync(stepUpKeyOf({ profile, key: undefined }), 'utf8')
  return { url, rawKey: key, stepUp: ed25519SigningKey('step-up', pem) }
}
