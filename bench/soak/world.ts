// Sets the soak up, over HTTP as an operator would: humans, an approver, two policies, an external connector.
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { makeRawKey } from '../../src/core/callers.ts'
import { ed25519SigningKey } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import { aPolicy, humans } from '../calls.ts'
import { openProgram } from '../program.ts'
import type { ReceiverJob, ReceiverReady } from '../receiver.ts'
import { startService, type MeasuredService, type ServiceOptions } from '../service.ts'
import { openClient } from './client.ts'
import { propose, resolve } from './people.ts'
import { recent, type World } from './story.ts'
import { APPROVED_BY_A_HUMAN, EXTERNAL } from './transactions.ts'

/** Below what the mix asks of them, so that both answers are part of it. */
const HEALTH_PER_MINUTE = 300
const NO_LIMIT = '1000000000'

/** in  probeFile  where the probe of each thread writes */
export async function openWorld(
  { probeFile, connectionsMax, ...options }: ServiceOptions & { probeFile: string; connectionsMax: number },
  stack: AsyncDisposableStack,
): Promise<{ world: World; service: MeasuredService }> {
  const { maker, checker } = humans
  const [narrow, auditor] = [makeRawKey(), makeRawKey()]
  const service = await startService(
    {
      ...options,
      nodeArguments: ['--import', join(import.meta.dirname, 'probe.ts')],
      callers: [
        maker.entry,
        checker.entry,
        { callerId: 'narrow', keyHash: sha256Hex(narrow), allowedCapabilities: ['sandbox:echo'] },
        { callerId: 'auditor', keyHash: sha256Hex(auditor), readAll: true },
      ],
      env: {
        BENCH_PROBE_FILE: probeFile,
        RATE_LIMIT_HEALTH_PER_MINUTE: String(HEALTH_PER_MINUTE),
        RATE_LIMIT_PUBLIC_PER_MINUTE: NO_LIMIT,
      },
    },
    stack,
  )
  const database = new Client({ connectionString: service.databaseUrl })
  await database.connect()
  stack.defer(() => database.end())
  const client = openClient(service.url, { connectionsMax })
  stack.defer(() => client.close())

  const receiver = stack.use(openProgram<ReceiverJob, ReceiverReady>('receiver.ts'))
  const receiverUrl = `${(await receiver.run({ delayMs: 0 }, { withinMs: 20_000 })).origin}/`
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const approver = { approverId: 'soak-approver', key: ed25519SigningKey('k1', pem) }
  let number = 0
  const world: World = {
    client,
    keys: { caller: service.key, narrow, auditor },
    maker,
    checker,
    approver,
    database,
    receiverUrl: receiverUrl,
    publicKeyIds: publicKeyIds(service.signingKeyDir),
    executed: recent(),
    next: () => ++number,
  }

  const enrolment = await propose(world, 'POST /approvers/changes', {
    action: 'add',
    approverId: approver.approverId,
    keyId: 'k1',
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    reason: 'soak',
  })
  await resolve(world, '/approvers/changes', enrolment, 'approve')
  const verify = { approved: { by: 'approval', quorum: 1 } }
  await inEffect(world, APPROVED_BY_A_HUMAN, aPolicy(APPROVED_BY_A_HUMAN, 'sandbox:echo', { verify }))
  const { capability, ...external } = EXTERNAL
  await inEffect(world, external, aPolicy(external, capability))
  const registration = await propose(world, 'POST /external-connectors/changes', {
    action: 'register',
    capability,
    endpointUrl: world.receiverUrl,
    policy: external.name,
    allowedParameters: ['amount', 'drop'],
    reason: 'soak',
  })
  await resolve(world, '/external-connectors/changes', registration, 'approve')
  return { world, service }
}

async function inEffect(world: World, policy: { name: string; version: string }, document: object) {
  const route = 'POST /policies/{name}/{version}/pending-changes'
  const change = await propose(world, route, { reason: 'soak', proposedContent: document }, policy)
  await resolve(world, '/policies/pending-changes', change, 'approve')
}

function publicKeyIds(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.public.pem'))
    .map((name) => name.slice(0, -'.public.pem'.length))
}
