// Sets the soak up, over HTTP as an operator would: humans, an approver, two policies, an external connector. Every reply of its
// calls is counted by its route.
import { Agent } from 'node:http'
import { join } from 'node:path'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aConnector, aPolicy, aSigningKey, checker, maker, putIntoEffect } from '../authority.ts'
import { call as callOnce, checkStatus, openRequest, type CallRoute } from '../calls.ts'
import { IDLE_MS_MAX } from '../connection.ts'
import { openTimes, type Times } from '../figures.ts'
import { openReceiver } from '../program.ts'
import { startSubject } from '../subject.ts'
import { APPROVED_BY_A_HUMAN, EXTERNAL, EXTERNAL_CAPABILITY, type World } from './story.ts'

/** A limit below the requests of the mix, so that both answers are part of it. */
const HEALTH_PER_MINUTE = 300
const NO_LIMIT = '1000000000'

export interface RouteTally {
  /** Replies by their status; 0 where none came. */
  readonly statuses: Map<number, number>
  readonly times: Times
}

/** @param probeFile where the probe of each thread writes */
export async function openWorld(
  { probeFile, connections }: { probeFile: string; connections: number },
  stack: AsyncDisposableStack,
) {
  const approverId = 'soak-approver'
  const [narrow, auditor] = [makeRawKey(), makeRawKey()]
  const { url, key, own } = await startSubject(
    {
      nodeArguments: ['--import', join(import.meta.dirname, 'probe.ts')],
      callers: [
        // Sees the requests that wait for the approver, and declines.
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
  const target = {
    url,
    key,
    agent: new Agent({ keepAlive: true, maxSockets: connections, timeout: IDLE_MS_MAX }),
  }
  const tallies = new Map<string, RouteTally>()
  const call: CallRoute = async (route, given = {}) => {
    const tally = tallies.get(route) ?? { statuses: new Map<number, number>(), times: openTimes() }
    tallies.set(route, tally)
    const sinceMs = performance.now()
    let status = 0
    try {
      const called = await callOnce(target, route, { ...given, expect: 'any' })
      status = called.status
      return checkStatus(route, called, given.expect)
    } finally {
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
      tally.times.add(performance.now() - sinceMs)
    }
  }
  async function abandon(route: string, body: string): Promise<void> {
    const { sent } = openRequest(target, route, { body })
    // The request may be answered all the same, as by a limit. That answer is dropped.
    sent.on('response', (response) => response.resume())
    sent.write(body.slice(0, body.length >> 1), () => sent.destroy())
    await new Promise((resolve) => sent.on('close', resolve))
  }

  const receiverUrl = await openReceiver(0, stack)
  const { key: approverKey, publicKeyPem } = aSigningKey('k1')
  await putIntoEffect(call, 'approver', { body: { action: 'add', approverId, keyId: 'k1', publicKeyPem } })
  const verify = { approved: { by: 'approval', quorum: 1 } }
  await putIntoEffect(call, 'policy', aPolicy(APPROVED_BY_A_HUMAN, '1.0.0', 'sandbox:echo', { verify }))
  await putIntoEffect(call, 'policy', aPolicy(EXTERNAL, '1.0.0', EXTERNAL_CAPABILITY))
  await putIntoEffect(call, 'connector', aConnector(EXTERNAL_CAPABILITY, EXTERNAL, receiverUrl))

  const approver = { approverId, key: approverKey }
  const world: World = { call, abandon, narrow, auditor, approver, database, receiverUrl, executed: [] }
  return { world, service, tallies, disconnect: () => target.agent.destroy() }
}
