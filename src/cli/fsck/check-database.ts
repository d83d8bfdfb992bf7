// The frame of the commands that check a database: finding it, printing, and the exit code.
import { Client } from 'pg'
import { errorText } from '../../formats/text/error-text.ts'
import { pinRest, sessionOf } from '../../store/postgres/session.ts'
import { printable } from '../../formats/text/printable.ts'
import { CannotCheck } from '../cannot-check.ts'
import { databaseUrl, type Env } from '../database.ts'
import { openProgress } from './progress.ts'
import type { RunRequest } from './run.ts'

interface Checked {
  readonly problems: number
  /** How many of them are parts that could not be read. */
  readonly unreadable: number
  /** The members that the JSON has beside the lines. */
  readonly summary: object
  /** The same for a human. */
  readonly lines: readonly string[]
  /** These lines follow where there are no problems. */
  readonly clean?: readonly string[]
}

/**
 * Opens the database and prints the findings of `check` in it.
 * @param options.json prints a line of JSON for each problem, and one for the summary
 * @returns the exit code: 0 nothing is wrong, 1 something is, 2 not everything could be checked
 */
export async function checkDatabase(
  env: Env,
  { json }: { readonly json: boolean },
  check: (database: Required<Omit<RunRequest, 'keys'>>) => Promise<Checked>,
): Promise<0 | 1 | 2> {
  let client: Client | undefined
  // The reader of our output may go away (`| head`): the exit code still reports the result.
  process.stdout.on('error', () => undefined)
  const progress = openProgress(process.stderr)
  try {
    client = await connect(databaseUrl(env))
    const {
      problems,
      unreadable,
      summary,
      lines,
      clean = ['No problems.'],
    } = await check({
      sql: client,
      onFinding(finding) {
        progress.clear()
        const { table, key, problem } = finding
        console.log(json ? JSON.stringify(finding) : printable(`${table} ${key}: ${problem}`))
      },
      onProgress: progress.show,
    })
    progress.clear()
    if (json) console.log(JSON.stringify({ summary: { ...summary, problems, unreadable } }))
    else
      for (const line of [...lines, ...counted({ problems, unreadable, clean })]) console.log(printable(line))
    if (unreadable > 0) return 2
    return problems === 0 ? 0 : 1
  } catch (error) {
    progress.clear()
    // Not everything was checked, whatever went wrong: 1 would say that it was.
    console.error(`countersign: ${printable(errorText(error))}`)
    return 2
  } finally {
    await client?.end().catch(() => undefined)
  }
}

function counted({
  problems,
  unreadable,
  clean,
}: Pick<Checked, 'problems' | 'unreadable'> & { readonly clean: readonly string[] }): string[] {
  return [
    ...(problems === 0 ? clean : [problems === 1 ? '1 problem.' : `${problems} problems.`]),
    ...(unreadable === 0 ? [] : [`Of these ${unreadable} could not be read: not everything was checked.`]),
  ]
}

/** @throws CannotCheck with a sentence where the database cannot be opened */
export async function connect(connectionString: string): Promise<Client> {
  const client = new Client({
    ...sessionOf(connectionString),
    application_name: 'countersign-fsck',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The next page is fetched while the checks of one page send queries of their own.
    pipeline: true,
  })
  // A broken connection fails its statement. It also emits this event, which would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await pinRest(client)
    return client
  } catch (cause) {
    throw new CannotCheck(`The database cannot be opened: ${errorText(cause)}`)
  }
}
