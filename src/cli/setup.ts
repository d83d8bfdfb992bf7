// countersign setup humans: two humans who govern, an approver and an agent, for a trial of human authority. It runs while no service does,
// on one that it starts for itself: a service reads its callers at its start, so the next start knows the new ones and no restart is needed.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative, resolve } from 'node:path'
import { parseCallers } from '../core/callers/callers.ts'
import type { Caller } from '../formats/people/caller.ts'
import { ConfigError } from '../core/errors/config-error.ts'
import { readConfig, type Config } from '../core/config/config.ts'
import { readIfThere } from '../core/files/read-if-there.ts'
import { replaceWholeFile } from '../core/files/whole-file.ts'
import { errorText } from '../formats/text/error-text.ts'
import { shellWord } from '../formats/text/text.ts'
import { firstKeyText, LOCAL_CALLER } from '../server/first-steps.ts'
import type { Given } from './command.ts'
import type { setup } from './commands.ts'
import type { Env } from './database.ts'
import {
  BEGIN_ANEW,
  enrolApprover,
  missingConnectors,
  PAYMENTS,
  registerConnector,
  requireNobody,
  TOOLS,
} from './setup/authority.ts'
import { makeCaller, makeHumans, peopleNames } from './setup/people.ts'
import { startForAWhile } from './setup/service.ts'

/**
 * Makes keys and callers, enrols `dana:laptop` and registers the connectors by changes that Alice proposes and Bob approves. Everything that
 * the service holds already stays as it is.
 * @throws Error with a sentence where it must not run here, or failed: then there are no new humans, and a later attempt begins anew
 */
export async function setupHumans(
  env: Env,
  { dir, connector, tools, ownDatabase }: Given<typeof setup.humans>,
): Promise<void> {
  const config = configOf(env)
  refuseWhere(config, { ownDatabase })
  const folder = resolve(dir)
  const callers = openCallers(config, env)
  requireNoHumans(callers, folder)
  if (existsSync(folder))
    throw new Error(
      `${folder} exists: the humans of an earlier setup may be in it. Nothing was changed. Move it away, or name another folder by --dir.`,
    )
  const url = addressOf(config)
  await requireFreePort(config)
  const local =
    callers.entries.length === 0 && callers.file !== undefined ? makeCaller(localCaller) : undefined
  const keep = (all: readonly object[]) => {
    const list = `${JSON.stringify(all, undefined, 2)}\n`
    if (callers.file !== undefined) replaceWholeFile(callers.file, list, 0o600)
    else writeFileSync(join(folder, 'service-api-keys.json'), list, { mode: 0o600 })
  }
  const undo = () => {
    callers.undo()
    // A second attempt must not find half of the first.
    rmSync(folder, { recursive: true, force: true })
  }
  let isDone = false
  await uninterrupted(async (requireNoSignal) => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const people = makeHumans(folder, url)
      const all = [...callers.entries, ...[local, ...people].flatMap((one) => (one ? [one.entry] : []))]
      requireNoSignal()
      const service = await startForAWhile({ ...env, SERVICE_API_KEYS: JSON.stringify(all) })
      try {
        const [alice, bob] = people
        const humans = { proposer: alice, checker: bob }
        await requireNobody(service.url, alice)
        const actions = [
          { endpointUrl: connector, what: PAYMENTS },
          { endpointUrl: tools, what: TOOLS },
        ]
        const missing = await missingConnectors(service.url, alice, actions)
        // A registered connector that nobody uses does no harm: an attempt that fails here can be repeated.
        for (const action of missing) await registerConnector(service.url, { ...humans, ...action })
        requireNoSignal()
        // Before Dana's signature counts: an approver whose key is gone would stop each later attempt.
        keep(all)
        await enrolApprover(service.url, { ...humans, folder })
        isDone = true
      } finally {
        await service.stop()
      }
    } catch (error) {
      if (!isDone) {
        undo()
        throw error
      }
      process.stderr.write(`${errorText(error)}\nThe humans are set up all the same.\n`)
    }
  })
  if (local !== undefined)
    process.stdout.write(firstKeyText({ callerId: LOCAL_CALLER, rawKey: local.rawKey }))
  const isEmbedded = callers.file !== undefined
  process.stdout.write(
    nextSteps({
      folder,
      url,
      connector,
      isEmbedded,
      start: startCommand(env),
      used: [usedText(env, config), ...keptText(callers)].join('\n'),
    }),
  )
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * A signal does not stop the work half way: the next call of `requireNoSignal` throws, so that the work is undone; after the last call, the
 * work is finished.
 */
async function uninterrupted(work: (requireNoSignal: () => void) => Promise<void>): Promise<void> {
  let came: NodeJS.Signals | undefined
  const stay = (name: NodeJS.Signals) => {
    came ??= name
    process.stderr.write('The setup is finished or undone first.\n')
  }
  for (const name of SIGNALS) process.on(name, stay)
  try {
    await work(() => {
      if (came !== undefined) throw new Error(`${came} came before it was done: the setup was undone.`)
    })
  } finally {
    for (const name of SIGNALS) process.off(name, stay)
  }
}

/** Names the callers from before, whose keys still count, if there are any. */
function keptText({ known }: Callers): string[] {
  if (known.length === 0) return []
  return [
    `What was there before stays: the keys of ${known.map(({ callerId }) => callerId).join(', ')}, and everything that the service holds.`,
  ]
}

const localCaller = { callerId: LOCAL_CALLER, allowedCapabilities: ['*'] }

function configOf(env: Env): Config {
  try {
    return readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new Error(error.problems.join('\n'), { cause: error })
  }
}

function refuseWhere(config: Config, { ownDatabase }: { ownDatabase: boolean }): void {
  if (config.production)
    throw new Error(
      'NODE_ENV is production: this is for a trial, where one person has the keys of all humans.',
    )
  if (config.authDisabled) throw new Error('SERVICE_AUTH_DISABLED is set: then no caller is a human.')
  if (config.databaseUrl !== undefined && !ownDatabase)
    throw new Error(
      'DATABASE_URL is set. This is for a trial: it enrols an approver whose key it makes itself. Unset it, or say --own-database.',
    )
  if (config.databaseUrl === undefined && config.callers !== undefined)
    throw new Error('SERVICE_API_KEYS is set: unset it, so that the callers of DATA_DIR count.')
}

interface Callers {
  readonly entries: readonly object[]
  /** The same, read. */
  readonly known: readonly Caller[]
  /** The file that keeps them; undefined where SERVICE_API_KEYS does. */
  readonly file: string | undefined
  /** Puts the file back to what it was. */
  readonly undo: () => void
}

function openCallers({ databaseUrl, dataDir, callers: known = [] }: Config, env: Env): Callers {
  if (databaseUrl !== undefined)
    return {
      entries: JSON.parse(env['SERVICE_API_KEYS'] ?? '[]') as object[],
      known,
      file: undefined,
      undo: () => undefined,
    }
  const file = join(dataDir, 'callers.json')
  const text = readIfThere(file)
  if (text === undefined) return { entries: [], known: [], file, undo: () => rmSync(file, { force: true }) }
  const undo = () => {
    if (readIfThere(file) !== text) replaceWholeFile(file, text, 0o600)
  }
  return { known: parseCallers(text, file), entries: JSON.parse(text) as object[], file, undo }
}

function requireNoHumans({ known, file }: Callers, folder: string): void {
  const source = file ?? 'SERVICE_API_KEYS'
  const humans = known.filter(({ credentialHolderType }) => credentialHolderType === 'USER')
  if (humans.length > 0)
    throw new Error(
      `${source} has humans already: ${humans.map(({ callerId }) => callerId).join(', ')}. Nothing was changed. ${
        existsSync(folder)
          ? `Their keys may be in ${folder}: go on with the profiles there.`
          : `Their keys are where the setup has put them, and nowhere else, so that keys that are lost are not made again. ${BEGIN_ANEW}`
      }`,
    )
  const taken = known.find(({ callerId }) => peopleNames.includes(callerId))
  if (taken !== undefined) throw new Error(`${source} has a caller ${taken.callerId} already.`)
}

/** With the port in use, the next start would fail, and the profiles would name the address of another program. */
async function requireFreePort({ host, port }: Config): Promise<void> {
  const probe = createServer()
  const failed = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    probe.once('error', done)
    probe.listen(port, host, () => done(undefined))
  })
  if (failed === undefined) await new Promise((closed) => void probe.close(closed))
  else if (failed.code === 'EADDRINUSE')
    throw new Error(
      `Port ${port} is in use: end the program that listens there, or set PORT to another port for this command and for the start.`,
    )
}

/** Where the next start will listen, as a browser or a client says it. */
function addressOf({ host, port }: Config): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port === 0 ? 3000 : port}`
}

/** The variables that say where the service is, as far as the environment has them. */
function placesOf(env: Env): string[] {
  return ['HOST', 'PORT', 'DATA_DIR'].filter((name) => env[name] !== undefined)
}

/** Says in a sentence whose address and folder the profiles are for. */
function usedText(env: Env, config: Config): string {
  const given = placesOf(env).join(', ')
  const source = given === '' ? 'HOST, PORT and DATA_DIR are not set' : `set by ${given} in the environment`
  return `The profiles are for ${addressOf(config)}, with the data in ${config.dataDir} (${source}). Start the service with the same settings.`
}

/** Contains the variables that were set for this command only: the service must be started with the same. */
function startCommand(env: Env): string {
  return [...placesOf(env).map((name) => `${name}=${shellWord(env[name] ?? '')}`), 'npm start'].join(' ')
}

function nextSteps(made: {
  readonly folder: string
  readonly url: string
  readonly connector: string
  readonly isEmbedded: boolean
  /** The command that starts the service. */
  readonly start: string
  /** A sentence. */
  readonly used: string
}): string {
  const folder = relative('', made.folder) || '.'
  const port = new URL(made.connector).port || '80'
  const start = made.isEmbedded
    ? `  ${made.start}`
    : `  export SERVICE_API_KEYS="$(cat ${folder}/service-api-keys.json)"\n  ${made.start}`
  return `For a trial only: ${folder} holds the keys of all humans. A person who has all of them decides alone. Outside of a trial each human makes
their own keys on their own machine (handbook, "Governing").

  ${folder}/alice.json, bob.json   two humans who decide on changes: one proposes, the other approves
  ${folder}/dana.json              approves payments; alice proposed the key dana:laptop, bob approved it
  ${folder}/agent.json             a program that may submit vendor:pay and llm:call-tool

${made.used}

Next, each in a terminal of its own: the service, the program that pays, an agent, and Dana, who looks and signs.

${start}
  npx node examples/external-receiver/receiver.ts --service ${made.url} --port ${port} --journal mine/receiver.journal
  npx node examples/paying-agent/pay.ts --profile ${folder}/agent.json --vendor vendor-17 --amount 250 --invoice 2026-118
  bin/countersign approver sign-request --profile ${folder}/dana.json

`
}
