// Sets the soak up, over HTTP as an operator would: humans, an approver, two policies, an external connector.
import { readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aConnector, aPolicy, aSigningKey, checker, maker, putIntoEffect } from '../authority.ts'
import { IDLE_MS_MAX } from '../connection.ts'
import { openProgram } from '../program.ts'
import type { ReceiverJob, ReceiverReady } from '../receiver.ts'
import type { MeasuredService } from '../service.ts'
import { startSubject } from '../subject.ts'
import { openClient } from './client.ts'
import { APPROVED_BY_A_HUMAN, EXTERNAL, EXTERNAL_CAPABILITY, recent, type World } from './story.ts'

/** Below what the mix asks of them, so that both answers are part of it. */
const HEALTH_PER_MINUTE = 300
const NO_LIMIT = '1000000000'

/** @param probeFile where the probe of each thread writes */
export async function openWorld(
  { probeFile, connections }: { probeFile: string; connections: number },
  stack: AsyncDisposableStack,
): Promise<{ world: World; service: MeasuredService; disconnect: () => void }> {
  const approverId = 'soak-approver'
  const [narrow, auditor] = [makeRawKey(), makeRawKey()]
  const { url, key, own } = await startSubject(
    {
      nodeArguments: ['--import', join(import.meta.dirname, 'probe.ts')],
      callers: [
        // Sees what waits for the approver, and declines.
        { ...maker.entry, approverId },
        checker.entry,
        { callerId: 'narrow', keyHash: sha256Hex(narrow), allowedCapabilities: ['sandbox:echo'] },
        { callerId: 'auditor', keyHash: sha256Hex(auditor), readAll: true },
      ],
      env: {
        BENCH_PROBE_FILE: probeFile,
        LOG: 'on',
        RATE_LIMIT_HEALTH_PER_MINUTE: String(HEALTH_PER_MINUTE),
        RATE_LIMIT_PUBLIC_PER_MINUTE: NO_LIMIT,
      },
    },
    {},
    stack,
  )
  const { service, database } = own
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: IDLE_MS_MAX })
  const client = openClient({ url, key, agent })

  const receiver = stack.use(openProgram<ReceiverJob, ReceiverReady>('receiver.ts'))
  const receiverUrl = `${(await receiver.run({ delayMs: 0 }, { withinMs: 20_000 })).origin}/`
  const { key: approverKey, publicKeyPem } = aSigningKey('k1')
  await putIntoEffect(client.call, 'approver', {
    body: { action: 'add', approverId, keyId: 'k1', publicKeyPem },
  })
  const verify = { approved: { by: 'approval', quorum: 1 } }
  const approved = aPolicy(APPROVED_BY_A_HUMAN, '1.0.0', 'sandbox:echo', { verify })
  await putIntoEffect(client.call, 'policy', approved)
  await putIntoEffect(client.call, 'policy', aPolicy(EXTERNAL, '1.0.0', EXTERNAL_CAPABILITY))
  await putIntoEffect(client.call, 'connector', aConnector(EXTERNAL_CAPABILITY, EXTERNAL, receiverUrl))

  let number = 0
  const world: World = {
    client,
    narrow,
    auditor,
    approver: { approverId, key: approverKey },
    database,
    receiverUrl,
    publicKeyIds: readdirSync(service.signingKeyDir).flatMap(
      (name) => /^(.*)\.public\.pem$/.exec(name)?.[1] ?? [],
    ),
    executed: recent(),
    next: () => ++number,
  }
  return { world, service, disconnect: () => agent.destroy() }
}
