// Brings the shipped policy documents into the database at start (decisions §6): new ones are added, approved ones never change.
import type pg from 'pg'
import { addPolicyVersions, readPolicyVersions } from '../core/tables/policy-versions.ts'
import { inTransaction } from '../core/tables/transaction.ts'
import { readPolicies } from '../core/policy/load.ts'

interface PolicyDifference {
  /** One sentence without the file: it is shown to everybody (GET /ready). */
  readonly message: string
  readonly file: string
}

interface PolicySync {
  /** What the author of a policy should look at. */
  readonly warnings: readonly string[]
  /** Approved versions whose file says something else: what was approved stays in effect. */
  readonly differences: readonly PolicyDifference[]
}

/** @throws PolicyError with every mistake of every file; the database is then untouched */
export async function syncPolicies(pool: pg.Pool, dir: string): Promise<PolicySync> {
  const sources = readPolicies(dir)
  // A first start without any would leave the second one to be the first, and to approve what it finds.
  if (sources.length === 0) throw new Error(`POLICY_DIR ${dir} holds no policy.`)
  const warnings = sources.flatMap(({ name, version, warnings: found }) =>
    found.map((warning) => `Policy ${name} ${version}: ${warning}`),
  )
  const stored = await inTransaction(pool, async (sql) => {
    await addPolicyVersions(sql, sources)
    return readPolicyVersions(sql)
  })
  const differences = sources
    .filter(({ name, version, contentHash }) =>
      stored.some((row) => row.name === name && row.version === version && row.contentHash !== contentHash),
    )
    .map(({ name, version, file }) => ({
      message: `Policy '${name}' version '${version}' keeps its approved content; its file differs.`,
      file,
    }))
  return { warnings, differences }
}
