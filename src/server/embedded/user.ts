// The operating system user of the embedded database: our own user, or, because PostgreSQL refuses root, an unprivileged one.
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export interface DatabaseUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** The arguments with which `node:child_process` starts a program as the database user. */
type Launch = (
  program: string,
  args: readonly string[],
) => [command: string, args: readonly string[], options: { uid?: number; gid?: number } & typeof surroundings]

// The server outlives us and its environment is readable, so none of our variables (webhook secrets, tokens) may reach it.
const surroundings = { cwd: '/', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' } }

/**
 * The user to drop to, because PostgreSQL refuses root: the owner of the data, else `postgres`, else `nobody`.
 *
 * @returns undefined where we are not root
 */
export function databaseUser(data: string): DatabaseUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
  const owner = statSync(data, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) {
    const { uid, gid } = owner
    return { name: users.find((user) => user.uid === uid)?.name ?? `uid ${uid}`, uid, gid }
  }
  const named = (wanted: string) => users.find(({ name }) => name === wanted)
  return named('postgres') ?? named('nobody') ?? { name: 'nobody', uid: 65534, gid: 65534 }
}

/** The outermost folder on the way to `folder`, itself included, that the user may not enter. */
export function closedFolder(folder: string, user: DatabaseUser): string | undefined {
  const parent = dirname(folder)
  const above = parent === folder ? undefined : closedFolder(parent, user)
  if (above !== undefined) return above
  const { uid, gid, mode } = statSync(folder)
  const mayEnter = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  return (mode & mayEnter) === 0 ? folder : undefined
}

/**
 * How to start `initdb` and `postgres` as the user, who must reach them and all `folders`. A clone below /root or `mktemp -d` is
 * closed to that user. There the user keeps one capability of root, CAP_DAC_READ_SEARCH, which only opens folders for passing and reading.
 *
 * @throws where setpriv or the capability is missing, as in a default Docker container; the sentence names the closed folder
 */
export function launchAs(user: DatabaseUser | undefined, initdb: string, folders: readonly string[]): Launch {
  if (user === undefined) return (program, args) => [program, args, surroundings]
  const { name, uid, gid } = user
  const closed = [dirname(initdb), ...folders].map((each) => closedFolder(each, user)).find(Boolean)
  if (closed === undefined) return (program, args) => [program, args, { uid, gid, ...surroundings }]
  const drop = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    ...['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_read_search`),
    '--securebits=+no_setuid_fixup', // else access(2) ignores the capability, and PostgreSQL calls it before running a program
  ]
  if (spawnSync('setpriv', [...drop, initdb, '--version'], surroundings).status === 0)
    return (program, args) => ['setpriv', [...drop, program, ...args], surroundings]
  const way = initdb.startsWith(closed) ? 'move the clone' : 'set DATA_DIR'
  throw new Error(
    `PostgreSQL refuses to run as root, and user "${name}", whom it would run as, may not enter ${closed}: ` +
      `${way} to a folder that every user may enter, or start as an ordinary user.`,
  )
}
