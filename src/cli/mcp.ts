// countersign mcp and mcp pin: choose the service and the gateway, and for a trial make every change that two humans
// would approve.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { counted, shellWord } from '../formats/text/text.ts'
import {
  addressOf,
  assertServable,
  pinTools,
  readGateway,
  readLock,
  serveGateway,
  type GatewayFile,
  type Lock,
} from '../mcp/index.ts'
import type { Given } from './command.ts'
import type { mcp } from './commands.ts'
import type { Env } from './database.ts'
import { freePort } from './free-port.ts'
import { serviceOf } from './profile.ts'
import { aliasOf, isAddress } from './setup/mcp-alias.ts'
import { approveTrial } from './setup/mcp-trial.ts'

const { version } = packageJson

/** The file of an agent's key that a trial writes, and the default where no other is given. */
const AGENT = 'agent.json'

/** Serves a gateway until its client is gone. */
export async function serveMcp(env: Env, given: Given<typeof mcp.serve>): Promise<void> {
  const { upstream, trial, alias, dir, humans, config, port, unauthenticated } = given
  if (unauthenticated && port === undefined) throw new Error('--unauthenticated needs --port.')
  const http = port === undefined ? undefined : { port, unauthenticated }
  if (!trial) {
    if (config === undefined)
      throw new Error('Give --config with the file of a gateway, or --trial and the server.')
    if (upstream.length > 0) throw new Error('The server stands in the file of --config: give no other.')
    const gateway = readGateway(config, env)
    if (http !== undefined) assertServable(gateway.http ?? {}, http)
    const lock = readLock(gateway.folder)
    if (lock === undefined)
      throw new Error(
        `Nothing is pinned in ${gateway.folder}: run countersign mcp pin, and have two humans approve its policy.`,
      )
    const service = serviceFor(gateway, given)
    return serveGateway({ gateway, version, lock, service, http })
  }
  const file = config ?? (await newGateway({ upstream, alias, dir }))
  const gateway = readGateway(file, env)
  if (http !== undefined) assertServable(gateway.http ?? {}, http)
  const lock = readLock(gateway.folder) ?? (await pinTools({ gateway, version })).lock
  await approveTrial({ gateway, lock, humans, agentFile: join(gateway.folder, AGENT), url: given.url })
  const address = http && addressOf(gateway.http ?? {}, http.port)
  const introduction = trialText({ alias: gateway.alias, file: resolve(file), lock, humans, url: address })
  return serveGateway({ gateway, version, lock, service: serviceFor(gateway, given), http, introduction })
}

/** Pins the tools that the server lists now. Prints the file of the policy, and the next steps of humans to standard error. */
export async function pinMcp(env: Env, { config }: Given<typeof mcp.pin>): Promise<void> {
  const gateway = readGateway(config, env)
  const { lock, policyFile, versionBefore } = await pinTools({ gateway, version })
  console.log(policyFile)
  const reads = Object.values(lock.tools).filter(({ readOnly }) => readOnly).length
  const folder = shellWord(join(gateway.folder, 'policies'))
  const retires = versionBefore === undefined ? '' : ` --retires ${versionBefore}`
  console.error(`Pinned ${Object.keys(lock.tools).length} tools, of which ${reads} only read and are approved without a human.
Look at the policy, test it, and propose it; another human approves it. Until then the gateway refuses what has changed.

  bin/countersign policy test ${folder}
  bin/countersign policy propose ${shellWord(policyFile)} --reason 'The tools of ${gateway.alias}, as pinned today'${retires} --profile <yours>${retiresText(gateway.alias, versionBefore)}`)
}

const retiresText = (alias: string, before: string | undefined) =>
  before === undefined
    ? ''
    : `

--retires ends version ${before} in the same change: until then its tools may be called as they were pinned before.
Name there each version that GET /policies/in-effect?capability=mcp:${alias} lists; leave out ${before} if it was never approved.`

function serviceFor(
  { folder }: GatewayFile,
  { profile, url, apiKey }: Pick<Given<typeof mcp.serve>, 'profile' | 'url' | 'apiKey'>,
) {
  const own = join(folder, AGENT)
  return serviceOf({ profile: profile ?? (existsSync(own) ? own : undefined), url, apiKey })
}

/** Writes the file of a gateway for a trial; an existing one stays. */
async function newGateway({
  upstream,
  alias = aliasOf(upstream),
  dir,
}: {
  readonly upstream: readonly string[]
  readonly alias: string | undefined
  readonly dir: string
}): Promise<string> {
  const folder = join(dir, alias)
  const file = join(folder, 'gateway.yaml')
  if (existsSync(file)) return file
  if (upstream.length === 0)
    throw new Error('Name the server after --, such as: countersign mcp --trial -- node server.js')
  const [first = ''] = upstream
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The port is part of the registered address, so the gateway keeps it.
  const members = {
    alias,
    port: await freePort(),
    upstream: isAddress(first) ? { url: first } : { command: upstream },
  }
  writeFileSync(file, stringify(members), { mode: 0o600 })
  return file
}

/**
 * The next steps: how Dana approves, and the lines that a client's configuration needs.
 * @param given.url of a gateway that is served by HTTP: its client does not start it
 */
function trialText(given: {
  readonly alias: string
  readonly file: string
  readonly lock: Lock
  readonly humans: string
  readonly url: string | undefined
}): string {
  const { alias, file, lock, humans, url } = given
  const command = resolve(import.meta.dirname, '..', '..', 'bin', 'countersign')
  const entry = {
    [alias]: url === undefined ? { command, args: ['mcp', '--config', file] } : { type: 'http', url },
  }
  const lines = JSON.stringify({ mcpServers: entry }, undefined, 2)
  const needs =
    url === undefined
      ? 'A client starts the gateway itself, so end this command first (Ctrl-C). It needs this checkout, and the service running.'
      : 'A client needs this command and the service running.'
  const tools = Object.values(lock.tools)
  const reads = tools.filter(({ readOnly }) => readOnly).length
  return `
For a trial only: one person has decided alone what two humans decide.

${counted(tools.length, 'tool')} of ${alias}: ${reads} only read and are called at once; calls of the others wait for Dana, who looks and signs in another terminal:

  bin/countersign approver sign-request --profile ${shellWord(join(humans, 'dana.json'))}

${needs} These lines go into its configuration:

${lines}
`
}
