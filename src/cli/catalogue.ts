// countersign catalogue rebuild: builds the catalogue again from the stored evidence, in the same pieces as running services, which may do some
// of them. Like them it pauses while executions go on.
import { setTimeout as delay } from 'node:timers/promises'
import { catalogueStanding, fillCatalogue, restMs } from '../core/catalogue/follow.ts'
import { openDocuments } from '../core/catalogue/row.ts'
import { catalogueDays } from '../core/config/config.ts'
import { countEntries, deleteAllEntries } from '../store/tables/catalogue-entries.ts'
import { beginBuilding } from '../store/tables/catalogue-state.ts'
import { inTransaction } from '../store/postgres/transaction.ts'
import { onDatabase, type Env } from './database.ts'
import { counted } from '../formats/text/text.ts'

/** The wait for a service that is still building. */
const OTHERS_MS = 50

export async function rebuild(env: Env): Promise<void> {
  const days = catalogueDays(env)
  await onDatabase(env, async (pool) => {
    await inTransaction(pool, async (sql) => {
      await beginBuilding(sql)
      await deleteAllEntries(sql)
    })
    const tools = { pool, documents: openDocuments(), nowMs: Date.now, days }
    for (;;) {
      const startedMs = performance.now()
      const filled = await fillCatalogue(tools)
      if (filled.more) await delay(restMs(filled, performance.now() - startedMs))
      else if ((await catalogueStanding(pool))?.building === true) await delay(OTHERS_MS)
      else break
    }
    console.log(`The catalogue is built: ${counted(await countEntries(pool), 'execution')}.`)
  })
}
