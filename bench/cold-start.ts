// From the start of the process to its first answers, with the embedded PostgreSQL, on an empty folder and on an existing one.
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from './calls.ts'
import { treeMicros } from './cpu.ts'
import { checkSample } from './evidence.ts'
import { figuresOf, type Round } from './figures.ts'
import { filledOnce } from './request.ts'
import { say, type SelfMeasured } from './scenario.ts'
import { startService, temporaryFolder } from './service.ts'
import { transactionBody } from './transaction.ts'

const POLL_EVERY_MS = 5

const name = 'cold-start'
const description =
  'from the start of the process to the first READY and to the first execution, embedded PostgreSQL'

export const coldStart: SelfMeasured = {
  name,
  description,
  isLocal: true,
  async measure({ rounds }, stack) {
    const rows = ['empty folder', 'existing folder'].map((label) => ({ label, starts: [] as Round[] }))
    const problems: string[] = []
    for (let round = 0; round < rounds; round++) {
      const folder = temporaryFolder(stack)
      for (const { label, starts } of rows) {
        say(`${name}: ${label}`)
        const started = await start(folder, stack)
        starts.push(started.figures)
        problems.push(...started.problems)
      }
    }
    const measurements = rows.map(({ label, starts }) => ({ label, figures: figuresOf(starts) }))
    const checked = { replies: rounds * 2, verifiedOffline: rounds * 2 }
    return { report: { name, description, labels: 'start', measurements, checked }, problems }
  },
}

async function start(dataDir: string, stack: AsyncDisposableStack) {
  const startMs = performance.now()
  const service = await startService({ dataDir, env: { RATE_LIMIT_HEALTH_PER_MINUTE: '1000000' } }, stack)
  while ((await call(service, 'GET /ready', { expect: [200, 503] })).status !== 200)
    await sleep(POLL_EVERY_MS)
  const readyMs = performance.now() - startMs
  const body = filledOnce(transactionBody({}))
  await call(service, 'POST /execute', { body })
  const executedMs = performance.now() - startMs
  const micros = treeMicros(service.pids.service)
  const { businessTransactionId: id } = JSON.parse(body) as { businessTransactionId: string }
  const { problems } = await checkSample(service, [{ id, evidence: 'trust-record' }])
  return {
    // CPU of the service and PostgreSQL, all of their processes.
    figures: { 'ready ms': readyMs, 'first execution ms': executedMs, 'CPU ms': micros && micros / 1000 },
    problems: [...problems, ...(await service.stop())],
  }
}
