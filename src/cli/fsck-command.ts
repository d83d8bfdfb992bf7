// countersign fsck: says whether what is stored is what was signed, beside running services or without any. Exits 0 where it is, 1 where
// something is not, 2 where that could not be found out of everything: what could not be read is named, and the rest is checked.
import { Client } from 'pg'
import { errorText } from '../core/error-text.ts'
import { dataDir, signingKeyDir } from '../core/folders.ts'
import { runningDatabaseUrl } from '../server/embedded/postmaster.ts'
import { openProgress } from './fsck/progress.ts'
import { fsck, type Summary } from './fsck/run.ts'
import { CannotCheck } from './fsck/schema.ts'
import { printable } from '../core/printable.ts'
import { readPublicKeys, type PublicKey } from '../core/signing/keys.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Checks the database and prints what it finds.
 * @param options.json prints a line of JSON for each problem, and one for the summary
 * @returns the exit code
 */
export async function fsckCommand(env: Env, { json }: { readonly json: boolean }): Promise<0 | 1 | 2> {
  let client: Client | undefined
  // Whoever reads what we say may go away (`| head`): the exit code still says it.
  process.stdout.on('error', () => undefined)
  const progress = openProgress(process.stderr)
  try {
    const keys = readKeys(env)
    client = await connect(databaseUrl(env))
    const summary = await fsck({
      sql: client,
      keys,
      onFinding(finding) {
        progress.clear()
        const { table, key, problem } = finding
        console.log(json ? JSON.stringify(finding) : printable(`${table} ${key}: ${problem}`))
      },
      onProgress: progress.show,
    })
    progress.clear()
    if (json) console.log(JSON.stringify({ summary }))
    else for (const line of described(summary)) console.log(printable(line))
    if (summary.unreadable > 0) return 2
    return summary.problems === 0 ? 0 : 1
  } catch (error) {
    progress.clear()
    // Whatever went wrong, not everything was looked at: 1 would say that it was.
    console.error(`countersign: ${printable(errorText(error))}`)
    return 2
  } finally {
    await client?.end().catch(() => undefined)
  }
}

function readKeys(env: Env): ReadonlyMap<string, PublicKey> {
  const dir = signingKeyDir(env)
  const keys = readPublicKeys(dir)
  if (keys.size === 0)
    throw new CannotCheck(
      `No keys in ${dir}: without the public keys nothing can be verified. Set SIGNING_KEY_DIR.`,
    )
  return keys
}

function databaseUrl(env: Env): string {
  const given = env['DATABASE_URL'] || runningDatabaseUrl(dataDir(env))
  if (given !== undefined) return given
  throw new CannotCheck(
    `DATABASE_URL is not set, and the embedded database of ${dataDir(env)} is not running: it runs while its service does.`,
  )
}

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({
    connectionString,
    application_name: 'countersign-fsck',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  // A connection that breaks fails the statement on it; it also emits this, which would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (cause) {
    throw new CannotCheck(`The database cannot be opened: ${errorText(cause)}`)
  }
}

function described({ rows, problems, unreadable, open, unexecuted }: Summary): string[] {
  const tables = Object.entries(rows).map(([table, count]) => `  ${table} ${count}`)
  const listed = open.listed.map(
    ({ businessTransactionId, state, deadline, inDoubt }) =>
      `  ${businessTransactionId} ${state} ${inDoubt ? 'in doubt since' : 'under way until'} ${deadline}`,
  )
  const total = open.inDoubt + open.underWay
  return [
    ...(tables.length === 0 ? [] : ['Rows checked:', ...tables]),
    ...(total === 0
      ? []
      : [`Not ended: ${open.inDoubt} in doubt, ${open.underWay} under way (no error):`, ...listed]),
    ...(total > listed.length ? [`  and ${total - listed.length} more`] : []),
    ...(unexecuted === 0
      ? []
      : [`Neither released nor refused, for want of a policy or a connector: ${unexecuted} (no error)`]),
    problems === 0 ? 'No problems.' : problems === 1 ? '1 problem.' : `${problems} problems.`,
    ...(unreadable === 0 ? [] : [`Of these ${unreadable} could not be read: not everything was checked.`]),
  ]
}
