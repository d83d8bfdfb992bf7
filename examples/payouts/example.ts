// npm run example:payouts: a payout whose answer is lost, the provider's signed delivery that closes it, and a subscriber who is told. Starts a
// service and a payment provider of its own, and leaves nothing behind. Exit 0: everything was as expected; 1: what was not is named.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { aConnector, aPolicy, checker, maker, putIntoEffect } from '../../bench/authority.ts'
import { call, type Call } from '../../bench/calls.ts'
import { createCountersign, type CountersignEvent } from '../../clients/typescript/src/index.ts'
import { startOwnService, type OwnService } from '../../demo/own-service.ts'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { sha256Hex } from '../../src/store/sha256.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CAPABILITY = 'razorpay:payout'
const POLICY = 'payouts'
/** For each event that the subscriber waits for. */
const EVENT_MS_MAX = 60_000

const secret = randomBytes(24).toString('hex')
const payerKey = makeRawKey()
const callers = [
  { callerId: 'payer', keyHash: sha256Hex(payerKey), allowedCapabilities: [CAPABILITY] },
  maker.entry,
  checker.entry,
]

async function example(
  service: OwnService,
  {
    folder,
    stop,
    interrupted,
  }: { folder: string; stop: (child: ChildProcess) => void; interrupted: AbortSignal },
): Promise<void> {
  const hear = subscribe(service, interrupted)
  const routes = (route: string, given: Call = {}) => call({ url: service.url, key: payerKey }, route, given)

  heading('A payment provider starts, with a journal of its own')
  const provider = await startProvider(service, folder, stop)

  heading('Two humans approve a policy, and the provider as the connector that carries payouts out')
  await putIntoEffect(routes, 'policy', aPolicy(POLICY, '1.0.0', CAPABILITY))
  await putIntoEffect(routes, 'connector', aConnector(CAPABILITY, POLICY, `${provider.origin}/`))
  print(`${CAPABILITY} is carried out by ${provider.origin}`)

  heading('A payout is executed: the provider pays, and the connection is lost before it answers')
  const id = randomUUID()
  const executed = await routes('POST /execute', { body: aPayout(id), expect: 502 })
  print(`POST /execute: ${executed.status} ${executed.text}`)

  heading('The execution is in doubt: a subscriber to GET /events is told, and an operator sees it')
  await hear('execution.in_doubt')
  await countersign(service, ['intents', 'show', id])

  heading('The provider posts its signed delivery, and the execution closes by itself')
  provider.deliver()
  const { resolution = 'missing' } = await hear('execution.closed')
  expect(resolution === 'EXECUTED', `the resolution is ${resolution}`)
  await countersign(service, ['intents', 'show', id])
  await countersign(service, ['webhooks', 'list', '--outcome', 'confirmed'])

  heading('What the provider said is signed, and verifies offline')
  const files = { keys: join(folder, 'keys.json'), said: join(folder, 'confirmation.json') }
  writeFileSync(files.keys, (await routes('GET /.well-known/jwks.json', { key: null })).text)
  const { confirmations } = (await routes('GET /confirmations/{id}', { params: { id } })).json() as {
    confirmations: object[]
  }
  expect(confirmations.length === 1, `there are ${confirmations.length} confirmations`)
  writeFileSync(files.said, JSON.stringify(confirmations[0]))
  await countersign(service, ['verify', files.said, '--jwks', files.keys])
  const lines = readFileSync(journalOf(folder), 'utf8').trim().split('\n')
  expect(lines.length === 2, `the provider's journal has ${lines.length} lines`)
  print('The journal of the provider: one payout begun, and ended. The money moved once.')
}

const journalOf = (folder: string): string => join(folder, 'payouts.journal')

interface Provider {
  /** Where it listens. */
  readonly origin: string
  /** Has it post its deliveries, which it keeps until then. */
  readonly deliver: () => void
}

async function startProvider(
  { url }: OwnService,
  folder: string,
  stop: (child: ChildProcess) => void,
): Promise<Provider> {
  const file = join(import.meta.dirname, 'provider.ts')
  const args = ['--service', url, '--secret', secret, '--journal', journalOf(folder)]
  const child = spawn(process.execPath, [file, ...args, '--drop', '--hold'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  stop(child)
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the provider ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      print(`provider: ${line}`)
      const origin = /^listening on (\S+)/.exec(line)?.[1]
      if (origin !== undefined) resolve({ origin, deliver: () => child.stdin.write('deliver\n') })
    })
  })
}

function aPayout(id: string): object {
  const at = new Date().toISOString()
  const [authorityId, authorizationId] = [randomUUID(), randomUUID()]
  const amount = 1_250_00
  return {
    businessTransactionId: id,
    metadata: {
      businessTransactionId: id,
      correlationId: randomUUID(),
      sourceSystem: 'example',
      submittedBy: 'payer',
      submittedAt: at,
    },
    authority: {
      authorityId,
      authorityType: 'SERVICE',
      principalId: 'payer',
      displayName: 'Payer',
      issuedAt: at,
    },
    authorization: { authorizationId, authorityId, purpose: 'Pay an invoice.', issuedAt: at },
    intent: {
      intentId: randomUUID(),
      authorizationId,
      action: CAPABILITY,
      target: 'vendor/4711',
      parameters: { amount, currency: 'INR' },
      createdAt: at,
    },
    policy: { name: POLICY, version: '1.0.0', schemaVersion: '1.0.0' },
    signals: { approved: true, amount },
  }
}

/** @returns prints what a subscriber to the payer's events is told, up to an event of a type */
function subscribe(
  { url }: OwnService,
  interrupted: AbortSignal,
): (type: CountersignEvent['type']) => Promise<CountersignEvent> {
  const overdue = new AbortController()
  const signal = AbortSignal.any([overdue.signal, interrupted])
  const events = createCountersign({ baseUrl: url, apiKey: payerKey, signal }).events()
  return async (type) => {
    const timer = setTimeout(() => overdue.abort(new Unexpected(`no event ${type} came`)), EVENT_MS_MAX)
    try {
      for (;;) {
        const { value: event } = await events.next()
        const { provider, says, resolution } = event
        const said = says === undefined ? '' : `: ${provider} says ${says}`
        print(`subscriber: ${event.type}${said}${resolution === undefined ? '' : ` as ${resolution}`}`)
        if (event.type === type) return event
      }
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Runs the command on the embedded database of the service, and shows what it prints. */
async function countersign({ dataDir }: OwnService, args: string[]): Promise<void> {
  print(`$ bin/countersign ${args.join(' ')}`)
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir }
  const cli = join(ROOT, 'src', 'cli', 'index.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { env })
  print(stdout.trimEnd().replaceAll(/^(?=.)/gm, '  '))
}

class Unexpected extends Error {
  constructor(problem: string) {
    super(`Not as expected: ${problem}.`)
  }
}

function expect(isMet: boolean, otherwise: string): void {
  if (!isMet) throw new Unexpected(otherwise)
}

const print = (text: string): void => console.log(text)
const heading = (text: string): void => print(`\n== ${text}`)

const folder = mkdtempSync(join(tmpdir(), 'countersign-payouts-'))
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
const children: ChildProcess[] = []
let service: OwnService | undefined
try {
  service = await startOwnService(interrupted.signal, {
    SERVICE_API_KEYS: JSON.stringify(callers),
    RAZORPAY_WEBHOOK_SECRET: secret,
  })
  const stop = (child: ChildProcess) => children.push(child)
  await example(service, { folder, stop, interrupted: interrupted.signal })
  print('\nEverything was as expected.')
} catch (error) {
  process.exitCode = 1
  if (!interrupted.signal.aborted) console.error(error instanceof Unexpected ? error.message : error)
} finally {
  for (const child of children) {
    child.removeAllListeners('exit')
    const ended = child.exitCode === null ? once(child, 'close') : undefined
    child.kill('SIGTERM')
    await ended
  }
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
}
