// npm run example:payouts: a payout whose answer is lost, and the provider's signed delivery that closes it. Starts a service and a payment
// provider of its own, and leaves nothing behind. Exit 0: everything was as expected; 1: what was not is named.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { aConnector, aPolicy, checker, maker, putIntoEffect } from '../../bench/authority.ts'
import { call, type Call } from '../../bench/calls.ts'
import { startOwnService, type OwnService } from '../../demo/own-service.ts'
import { makeRawKey } from '../../src/core/callers.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CAPABILITY = 'razorpay:payout'
const POLICY = 'payouts'
/** Between the payout and its delivery: long enough to look at the doubt. */
const LATER_MS = 3_000
const CLOSED_WITHIN_MS = 60_000

const secret = randomBytes(24).toString('hex')
const payerKey = makeRawKey()
const callers = [
  { callerId: 'payer', keyHash: sha256Hex(payerKey), allowedCapabilities: [CAPABILITY] },
  maker.entry,
  checker.entry,
]

async function example(
  service: OwnService,
  folder: string,
  stop: (child: ChildProcess) => void,
): Promise<void> {
  const routes = (route: string, given: Call = {}) => call({ url: service.url, key: payerKey }, route, given)

  heading('A payment provider starts, with a journal of its own')
  const origin = await startProvider(service, folder, stop)

  heading('Two humans approve a policy and the provider as a connector')
  await putIntoEffect(routes, 'policy', aPolicy(POLICY, '1.0.0', CAPABILITY))
  await putIntoEffect(routes, 'connector', aConnector(CAPABILITY, POLICY, `${origin}/`))
  print(`${CAPABILITY} is carried out by ${origin}`)

  heading('A payout is executed, and the connection is lost before the provider answers')
  const id = randomUUID()
  const executed = await routes('POST /execute', { body: aPayout(id), expect: 502 })
  print(`POST /execute: ${executed.status} ${executed.text}`)
  await countersign(service, ['intents', 'show', id])

  heading('The provider posts its signed delivery, and the execution closes by itself')
  const intent = await closed(routes, id)
  expect(intent['resolution'] === 'EXECUTED', `the resolution is ${String(intent['resolution'])}`)
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
  print(`The journal of the provider: begun once, ended once.`)
}

const journalOf = (folder: string): string => join(folder, 'payouts.journal')

/** @returns where it listens */
async function startProvider(
  { url }: OwnService,
  folder: string,
  stop: (child: ChildProcess) => void,
): Promise<string> {
  const file = join(import.meta.dirname, 'provider.ts')
  const args = ['--service', url, '--secret', secret, '--journal', journalOf(folder)]
  const child = spawn(process.execPath, [file, ...args, '--drop', '--later', String(LATER_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stop(child)
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the provider ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      print(`provider: ${line}`)
      const origin = /^listening on (\S+)/.exec(line)?.[1]
      if (origin !== undefined) resolve(origin)
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

async function closed(
  routes: (route: string, given: Call) => ReturnType<typeof call>,
  id: string,
): Promise<Record<string, unknown>> {
  const startMs = performance.now()
  for (;;) {
    const intent = (await routes('GET /execution-intents/{id}', { params: { id } })).json()
    if (intent['state'] !== 'RELEASED') return intent
    expect(performance.now() - startMs < CLOSED_WITHIN_MS, 'the execution is still in doubt')
    await delay(200)
  }
}

/** Runs the command on the embedded database of the service, and shows what it prints. */
async function countersign({ dataDir }: OwnService, args: string[]): Promise<void> {
  print(`$ bin/countersign ${args.join(' ')}`)
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir }
  const cli = join(ROOT, 'src', 'cli', 'index.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { env })
  print(stdout.trimEnd().replaceAll(/^/gm, '  '))
}

class Unexpected extends Error {}

function expect(isMet: boolean, otherwise: string): void {
  if (!isMet) throw new Unexpected(`Not as expected: ${otherwise}.`)
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
  await example(service, folder, (child) => children.push(child))
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
