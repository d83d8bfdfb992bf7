// countersign fsck on a healthy service: nothing is found, while it runs, under load and after it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDatabase } from '../database.ts'
import { startLoad } from '../load.ts'
import { until } from '../service.ts'
import { checked, startMixed } from './mix.ts'
import { makeKeys } from '../signing-keys.ts'

test.each(['ed25519', 'ed25519,ml-dsa-65'])(
  'everything that a service stores with %s holds, while it runs, under load and when it has stopped',
  async (receiptAlgorithms) => {
    const database = await createDatabase()
    const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
    makeKeys(signingKeyDir)
    const { service, mix, remove } = await startMixed(database, { receiptAlgorithms, signingKeyDir })
    const warnings: Error[] = []
    const warned = (warning: Error) => void warnings.push(warning)
    process.on('warning', warned)
    const running = await checked(database, signingKeyDir)
    expect(running.lines).toEqual([])
    expect(running.summary).toMatchObject({
      problems: 0,
      unexecuted: 1,
      open: { inDoubt: 1, underWay: 1 },
      rows: {
        refusal_records: 3,
        authority: 20,
        pending_changes: 22,
        approvals: 4,
        approval_requests: 2,
        approval_request_notes: 1,
        approval_request_closes: 1,
        webhook_events: 4,
        provider_confirmations: 2,
        intent_transitions: 3,
      },
    })
    expect(running.summary.open.listed.map(({ businessTransactionId }) => businessTransactionId)).toEqual([
      mix.inDoubt,
      mix.hanging,
    ])

    const load = startLoad(service, 8)
    for (let run = 1; run <= 3; run++) {
      const before = load.outcomes.length
      await until(() => load.outcomes.length >= before + 40, 'executions')
      expect((await checked(database, signingKeyDir)).lines).toEqual([])
    }
    await load.stop()
    expect(load.count(200)).toBeGreaterThan(100)
    expect(await service.stop()).toBe(0)
    expect((await checked(database, signingKeyDir)).lines).toEqual([])

    // The signature of a batch stands once, for all that were sealed together.
    const { rows: batches } = await database.pool.query<{ batch: string }>(
      'SELECT batch FROM batch_signatures AS b JOIN trust_records AS r ON strpos(r.seal, b.batch::text) > 0',
    )
    expect(batches.length > 0).toBe(receiptAlgorithms.includes('ml-dsa-65'))
    for (const change of ['set_byte(value, 9, get_byte(value, 9) # 1)', 'substring(value from 2)']) {
      if (batches.length === 0) break
      await database.pool.query(`UPDATE batch_signatures SET value = ${change} WHERE batch = $1::uuid`, [
        batches[0]?.batch,
      ])
      const { lines } = await checked(database, signingKeyDir)
      expect(lines.length).toBeGreaterThan(1)
    }
    process.off('warning', warned)
    expect(warnings, 'an operator reads these beside the findings').toEqual([])
    remove()
    rmSync(signingKeyDir, { recursive: true })
    await database.drop()
  },
)
