// npm run demo:console: a service with a month behind it, to look at in the console. It stays until Ctrl-C, and leaves nothing.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CannotRun } from './client.ts'
import { takePictures } from './console/pictures.ts'
import { sizes, startDemoWorld, type DemoWorld } from './console/world.ts'
import { heading, print, row } from './page.ts'

const USAGE =
  'npm run demo:console [-- --seed 1 --size full|small --port 3000 --passkey FILE --pictures FOLDER]'

interface Options {
  readonly seed: number
  readonly size: keyof typeof sizes
  readonly port: string
  /** Where pictures are put; then the demo ends by itself. */
  readonly pictures: string | undefined
  /** A step-up passkey of Dana's, as the console gives it to the operator. */
  readonly passkey: { readonly stepUpPasskey: object } | undefined
}

/** @throws CannotRun with a sentence that names the option */
function readOptions(): Options {
  const { seed, size, port, pictures, passkey } = givenOptions()
  if (!/^\d{1,9}$/.test(seed)) throw new CannotRun(`--seed must be a whole number.\nusage: ${USAGE}`)
  if (size !== 'full' && size !== 'small')
    throw new CannotRun(`--size must be full or small.\nusage: ${USAGE}`)
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new CannotRun(`--port must be a whole number from 0 to 65535.\nusage: ${USAGE}`)
  return {
    seed: Number(seed),
    size,
    port,
    pictures,
    passkey: passkey === undefined ? undefined : readPasskey(passkey),
  }
}

/** The page "Passkeys of yours" gives the text of this file. */
function readPasskey(path: string): { readonly stepUpPasskey: object } {
  try {
    const { stepUpPasskey } = JSON.parse(readFileSync(path, 'utf8')) as { stepUpPasskey?: unknown }
    if (typeof stepUpPasskey === 'object' && stepUpPasskey !== null) return { stepUpPasskey }
  } catch {
    // The sentence below says what the file must be.
  }
  throw new CannotRun(
    `--passkey must name a file with the JSON that Passkeys of yours shows for the operator: {"stepUpPasskey": {…}}.\nusage: ${USAGE}`,
  )
}

function givenOptions() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        size: { type: 'string', default: 'full' },
        port: { type: 'string', default: process.env['PORT'] ?? '0' },
        pictures: { type: 'string' },
        passkey: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new CannotRun(`${(error as Error).message}\nusage: ${USAGE}`)
  }
}

function show({ origin, people, profileOf }: DemoWorld): void {
  heading(`The console is at ${origin}/console`)
  for (const [name, what] of [
    ['dana', 'approves'],
    ['grace', 'proposes changes'],
  ] as const)
    row(name, `${people.humans[name].key}  ${what}`)
  row('auditor', `${people.auditor.key}  reads everything`)
  row('agent', `${people.agents['paying-agent'].key}  paying-agent`)
  print('')
  print('These keys log in. Commands sign as one of them by a profile:')
  print('')
  for (const [name, command] of [
    ['dana', 'approver sign-request <requestId>'],
    ['erin', 'changes approve <changeId>'],
    ['dana', 'intents resolve <businessTransactionId> not-executed --note "…"'],
  ] as const)
    print(`  bin/countersign ${command} --profile ${profileOf(name)}`)
  print('')
  print(
    'To sign in the console as dana: make a passkey “to resolve changes, close doubts and mend endpoints” there,',
  )
  print(
    `save the JSON that it shows, and start again with --port ${new URL(origin).port} --passkey <that file>.`,
  )
  print('')
  print('Ctrl-C stops the service and removes everything.')
}

async function main(): Promise<number> {
  const stopping = new AbortController()
  const { signal } = stopping
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopping.abort())
  try {
    const { seed, size, port, pictures, passkey } = readOptions()
    await using stack = new AsyncDisposableStack()
    const world = await startDemoWorld({ seed, size: sizes[size], port, passkey, signal, say: print }, stack)
    if (pictures !== undefined) {
      await takePictures(world, pictures, signal)
      return 0
    }
    show(world)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  } catch (error) {
    if (signal.aborted) return 130
    if (!(error instanceof CannotRun)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  }
}

process.exitCode = await main()
