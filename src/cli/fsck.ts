// countersign fsck: checks that the stored data are what was signed, beside running services or without any. Exits 0 if they are, 1 if
// something differs, 2 if not everything could be checked: unreadable data are named, and the rest is checked.
import { signingKeyDir } from '../core/config/folders.ts'
import { readPublicKeys, type PublicKey } from '../core/signing/keys.ts'
import { CannotCheck } from './cannot-check.ts'
import type { Given } from './command.ts'
import type { fsck as spec } from './commands.ts'
import { checkDatabase } from './fsck/check-database.ts'
import type { Env } from './database.ts'
import { fsck, type Summary } from './fsck/run.ts'

/** Scripts look for the first line. */
const CLEAN = [
  'No problems.',
  'This compares the database with itself: that it went back to an older state, only countersign log audit with a saved checkpoint shows.',
]

/**
 * Checks the database and prints its findings.
 * @returns the exit code
 */
export function fsckCommand(env: Env, options: Given<typeof spec>): Promise<0 | 1 | 2> {
  return checkDatabase(env, options, async (database) => {
    const summary = await fsck({ ...database, keys: readKeys(env) })
    const { problems, unreadable } = summary
    return { problems, unreadable, summary, lines: described(summary), clean: CLEAN }
  })
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

function described({ rows, open, unexecuted }: Summary): string[] {
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
  ]
}
