// `countersign receiver`: programs that carry out releases, ready to run. They import the client's receiver kit and nothing of the server.
import { fetchServiceKeys, openJournal, receive } from '../../clients/typescript/src/receiver/index.ts'
import { readHttpReceiver, readStripeReceiver } from './config.ts'
import { httpEffect } from './http.ts'

interface Given {
  readonly config: string
}

type Effect = ReturnType<typeof httpEffect>

/** Runs until a signal. */
export async function receiveByHttp(env: NodeJS.ProcessEnv, { config: file }: Given): Promise<void> {
  const config = readHttpReceiver(file, env)
  await run({ ...config, capabilities: [config.capability] }, httpEffect(config))
}

/**
 * Runs until a signal.
 * @throws Error where STRIPE_API_KEY is not set, or the package `stripe` is not installed
 */
export async function receiveForStripe(env: NodeJS.ProcessEnv, { config: file }: Given): Promise<void> {
  const config = readStripeReceiver(file)
  const secretKey = env['STRIPE_API_KEY']
  if (!secretKey) throw new Error('STRIPE_API_KEY is not set: the secret key of the account.')
  const { stripeEffect } = await import('./stripe.ts').catch((cause: unknown) => {
    throw new Error('The package stripe is not installed: this needs its version 23.1.0.', { cause })
  })
  await run(config, stripeEffect(secretKey, config.api))
}

async function run(
  config: {
    readonly service: string
    readonly port: number
    readonly journal: string
    readonly audience?: string
    readonly capabilities: readonly string[]
  },
  effect: Effect,
): Promise<void> {
  const journal = openJournal(config.journal)
  const receiver = receive({
    keys: await fetchServiceKeys(config.service),
    capabilities: config.capabilities,
    journal,
    audience: config.audience,
    ...effect,
    onError: (error, release) =>
      console.error(
        `${release?.businessTransactionId ?? 'A request'}: ${error instanceof Error ? error.message : String(error)}. The outcome is unknown.`,
      ),
  })
  const listening = await receiver.listen(config.port)
  console.log(`listening on ${listening.origin} for ${config.capabilities.join(', ')}`)
  await new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, resolve)
  })
  // Running releases are answered first.
  await listening.close()
  journal.close()
}
