// An MCP gateway's receiver that takes what it is given, one after the other, and dies where it is told: releases.test.ts marks every await on the way.
// CRASH_WORK  JSON: `Work`; the others are those of `recordProcess`
import { recordProcess } from '../points/record.ts'
import type { Lock } from '../../../src/mcp/lock.ts'

export interface Work {
  /** A file. */
  readonly journal: string
  /** Where the server behind is. */
  readonly upstream: string
  readonly audience: string
  readonly capability: string
  readonly lock: Lock
  /** The service's published keys. */
  readonly keySet: unknown
  /** Signed: releases, and questions by their header. */
  readonly asked: readonly ({ readonly release: string } | { readonly question: string })[]
}

const { CRASH_WORK: workText = '' } = process.env
const {
  journal: path,
  upstream: url,
  audience,
  capability,
  lock,
  keySet,
  asked,
} = JSON.parse(workText) as Work

recordProcess()
const { openJournal, receive, serviceKeys } =
  await import('../../../clients/typescript/src/receiver/index.ts')
const { openResults, toolEffect } = await import('../../../src/mcp/effect.ts')
const { openUpstream } = await import('../../../src/mcp/upstream.ts')

const upstream = openUpstream({ url }, { timeoutMs: 20_000, version: '1.0.0' })
const { answer } = receive({
  keys: serviceKeys(keySet),
  capabilities: [capability],
  journal: openJournal(path),
  audience,
  ...toolEffect(upstream, { lock, results: openResults() }),
})
for (const one of asked) {
  const request =
    'release' in one
      ? { method: 'POST', body: Buffer.from(one.release) }
      : { method: 'GET', question: one.question, body: Buffer.alloc(0) }
  process.stdout.write(`${JSON.stringify(await answer(request))}\n`)
}
// The connection to the server behind is kept.
process.exit(0)
