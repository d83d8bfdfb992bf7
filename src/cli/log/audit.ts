// countersign log audit: checks the logs of a database from their bytes, and every stored artifact against its entry, in one
// snapshot.
import { DamagedLog } from '../../formats/log/damaged.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { signingKeyDir } from '../../core/config/folders.ts'
import { readCheckpoint, type OpenedCheckpoint } from '../../formats/log/checkpoint.ts'
import type { LogEntry } from '../../formats/log/entry.ts'
import { parsePrevious, type PreviousLog } from '../../formats/log/previous.ts'
import { logKeyDir, logVkeys, publishedLogKeys } from '../../core/signing/log-keys.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { latestCheckpoint } from '../../store/tables/log-checkpoints.ts'
import type { OpenedLog } from '../../store/tables/log-state.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { LogKeyNotGiven } from '../../formats/verifier/log-trust.ts'
import { CannotCheck } from '../cannot-check.ts'
import { checkDatabase } from '../fsck/check-database.ts'
import type { Env } from '../database.ts'
import type { Finding } from '../fsck/check.ts'
import { loggedChecks } from '../fsck/logged.ts'
import { inSnapshot, type Progress, type Run } from '../fsck/run.ts'
import type { Given } from '../command.ts'
import { readAuthority } from './audit-authority.ts'
import { auditedRows } from './audit-rows.ts'
import { frozen, queueCheck, runProblems, streamProblems } from './audit-state.ts'
import { describedGap, NOTHING_ELSE } from './gap.ts'
import { checkLog, type CheckedLog } from './check-log.ts'
import type { audit as spec } from './commands.ts'
import { Coverage } from './coverage.ts'
import { described } from './fsck.ts'
import { checkpointOpener, trusting, type CheckpointOpener } from './trust.ts'
import { readSaved, savedProblems, type SavedCheckpoint } from './saved.ts'
import { LogFault } from '../fsck/log-source.ts'
import { openStored, type ReadEntry } from '../fsck/stored-log.ts'

/** A longer list would tell no more. */
const UNACCOUNTED_MAX = 1_000

export interface AuditedLog extends CheckedLog {
  /** The statement about the log before it; undefined for the first log. */
  readonly previous: PreviousLog | undefined
}

export interface Audited {
  /** The logs that are valid, from the first. */
  readonly logs: readonly AuditedLog[]
  readonly problems: number
  /** As of `countersign fsck`. */
  readonly unreadable: number
}

/**
 * Checks the logs of a database and the artifacts that are stored for them.
 * @param request.sql one connection, in no transaction
 * @param request.open given the origins of the logs: reads a checkpoint and checks who signed it
 * @param request.saved checkpoints that the logs must begin with
 * @throws as `fsck`
 */
export async function audit({
  sql,
  open,
  saved = [],
  onFinding,
  onProgress = () => undefined,
}: {
  readonly sql: Sql
  readonly open: (origins: readonly string[]) => CheckpointOpener
  readonly saved?: readonly SavedCheckpoint[]
  readonly onFinding: (finding: Finding) => void
  readonly onProgress?: (progress: Progress) => void
}): Promise<Audited> {
  return inSnapshot({ sql, keys: new Map(), onFinding, onProgress }, async (run) => {
    const { logs: byNumber, readEntry } = run.tools
    const known = [...byNumber.values()]
    const opener = open([...new Set([...known, ...saved].map(({ origin }) => origin))])
    for (const one of saved) await checkSaved(run, { saved: one, logs: known, open: opener })
    const proposals = await readProposals(sql)
    const coverages = new Map<number, Coverage>()
    const logs: AuditedLog[] = []
    for (const [i, one] of known.entries()) {
      const size = (await latestCheckpoint(sql, one.log))?.size
      // Nothing of it was published yet.
      if (size === undefined) continue
      // The rows that came after it were logged again, in the next log.
      const signedSize = signedSizeIn(known[i + 1]?.previous ?? null)
      const coverage = new Coverage({ size, artifacts: Math.min(size, signedSize) })
      coverages.set(one.log, coverage)
      const checked = await checkStored(one, { run, coverage, proposals, open: opener, onProgress })
      if (checked !== undefined) {
        logs.push({ ...checked, previous: parsePrevious(one.previous) })
        run.tally.tell(await streamProblems(run, one, size))
      }
      for (const problem of await runProblems(run, one, coverage))
        run.tally.tell([{ table: 'log', key: one.origin, problem }])
    }
    const { places: authority, unlogged } = await readAuthority(sql)
    run.tally.tell(unlogged)
    const detail = auditedRows({
      logs: byNumber,
      coverages,
      readEntry,
      authority,
      nowMs: await readNow(sql),
    })
    for (const check of [...loggedChecks(detail), queueCheck]) await run.check(check)
    // The rest of a log that was not read to its end is unknown.
    const whole = new Set(logs.map(({ checkpoint }) => checkpoint.origin))
    for (const { log, origin } of known.filter((one) => whole.has(one.origin)))
      run.tally.tell(await unaccounted(coverages.get(log), { log, origin, readEntry }))
    run.tally.tell(frozen(known.at(-1)))
    const { problems, unreadable } = run.tally.totals()
    return { logs, problems, unreadable }
  })
}

async function checkSaved(
  { tools: { sql }, tally, ask }: Run,
  given: {
    readonly saved: SavedCheckpoint
    readonly logs: readonly OpenedLog[]
    readonly open: CheckpointOpener
  },
): Promise<void> {
  const { origin } = given.saved
  await ask(`the log ${origin}`, async () => {
    try {
      tally.tell(await savedProblems(sql, given))
    } catch (error) {
      const isDamage = error instanceof DamagedLog
      if (!isDamage && !(error instanceof LogKeyNotGiven)) throw error
      const findings = [{ table: 'log', key: origin, problem: error.message }]
      if (isDamage) tally.tell(findings)
      else tally.tellUnreadable(findings)
    }
  })
}

/** @returns undefined where something is wrong, or unreadable, which is reported */
async function checkStored(
  { log, origin, previous }: OpenedLog,
  {
    run: { tools, tally, ask },
    coverage,
    proposals,
    open,
    onProgress,
  }: {
    readonly run: Run
    readonly coverage: Coverage
    readonly proposals: ReadonlySet<string>
    readonly open: CheckpointOpener
    readonly onProgress: (progress: Progress) => void
  },
): Promise<CheckedLog | undefined> {
  const { size } = coverage
  return ask(`the log ${origin}`, async () => {
    try {
      return await checkLog({
        source: openStored(tools.sql, { log, size }),
        open(note) {
          const opened = openOneOf(note, { newest: size, open })
          if (opened.origin !== origin) throw new Error(`it is one of ${opened.origin}`)
          coverage.addCheckpoint(opened)
          return opened
        },
        onEntry(entry, index) {
          if (index === 0) requirePrevious(entry, previous)
          coverage.add(entry, index)
          // A change that was resolved keeps the place of its resolution only.
          if (entry.kind.endsWith('governance-change') && proposals.has(entry.hash)) coverage.account(index)
          if (index % 10_000 === 0) onProgress({ table: origin, rows: index, about: size })
        },
      })
    } catch (error) {
      if (!(error instanceof LogFault)) throw error
      const findings = [{ table: 'log', key: origin, problem: error.message }]
      if (error.cause instanceof LogKeyNotGiven) tally.tellUnreadable(findings)
      else tally.tell(findings)
      return undefined
    }
  })
}

/** The witnesses of today need not have cosigned older checkpoints. */
function openOneOf(
  note: string,
  { newest, open }: { readonly newest: number; readonly open: CheckpointOpener },
): OpenedCheckpoint {
  const { size } = readCheckpoint(note)
  if (size === newest) return open(note)
  try {
    return open(note, { quorum: false })
  } catch (error) {
    if (error instanceof LogKeyNotGiven) throw error
    throw new Error(`that of ${size} entries: ${errorText(error)}`, { cause: error })
  }
}

/** A reopened log begins with the hash of the statement that says how the one before it ended. */
function requirePrevious({ kind, hash }: LogEntry, previous: string | null): void {
  if (previous === null ? kind !== 'previous' : kind === 'previous' && hash === sha256Hex(previous)) return
  throw new LogFault('entry 0', 'it is not the statement about the log before that is stored')
}

/** The size up to which the log before stayed as it was signed. */
function signedSizeIn(previous: string | null): number {
  // If it is no statement, the check of its own log reports that it is not the logged one.
  return parsePrevious(previous)?.previous.signedSize ?? Infinity
}

/** Entries without anything stored for them. */
async function unaccounted(
  coverage: Coverage | undefined,
  {
    log,
    origin,
    readEntry,
  }: { readonly log: number; readonly origin: string; readonly readEntry: ReadEntry },
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const index of coverage?.unaccounted(UNACCOUNTED_MAX) ?? []) {
    const problem = await readEntry({ log, index }).then(
      ({ kind, hash }) =>
        kind === 'ids'
          ? 'is of kind ids, and states no run that is stored'
          : `is of kind ${kind}, and no such artifact is stored: its SHA-256 is ${hash}`,
      errorText,
    )
    findings.push({ table: 'log', key: `${origin} ${index}`, problem })
  }
  return findings
}

/** Hashes of proposals that were resolved since. They are few, because humans make them one by one. */
async function readProposals(sql: Sql): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ body: string }>(
    'SELECT body FROM pending_changes WHERE resolved_body IS NOT NULL',
  )
  return new Set(rows.map(({ body }) => sha256Hex(body)))
}

async function readNow(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ now: Date }>('SELECT now() AS now')
  return rows[0]!.now.getTime()
}

/**
 * The command: prints the findings of `audit` in the database that `countersign fsck` would check.
 * @param options.trust path of a saved log description or of a C2SP tlog-policy; undefined: the log's public keys in SIGNING_KEY_DIR
 * @param options.checkpoints files with signed checkpoints of the log; the one in DATA_DIR is checked anyway
 * @returns the exit code: 0 everything is valid, 1 something is wrong, 2 not everything could be checked
 */
export function auditCommand(
  env: Env,
  { log: trust, checkpoint: checkpoints = [], json }: Given<typeof spec>,
): Promise<0 | 1 | 2> {
  return checkDatabase(env, { json }, async (database) => {
    const open = trust === undefined ? openedByKeys(signingKeyDir(env)) : () => checkpointOpener(trust)
    // Read before the database: a running service may sign the next checkpoint meanwhile.
    const audited = await audit({ ...database, open, saved: readSaved(env, checkpoints) })
    const { logs, problems, unreadable } = audited
    return {
      problems,
      unreadable,
      summary: {
        logs: logs.map(({ checkpoint: { origin, size }, ...counts }) => ({ origin, size, ...counts })),
      },
      ...(logs.some(({ previous }) => previous !== undefined) && { clean: [NOTHING_ELSE] }),
      lines: logs.length === 0 && problems === 0 ? ['No log has a checkpoint.'] : logs.flatMap(lines),
    }
  })
}

function lines({ previous, ...checked }: AuditedLog): string[] {
  return [...described(checked), ...(previous === undefined ? [] : describedGap(previous))]
}

function openedByKeys(dir: string): (origins: readonly string[]) => CheckpointOpener {
  const publicKeys = publishedLogKeys(dir)()
  if (publicKeys.length === 0)
    throw new CannotCheck(
      `No keys in ${logKeyDir(dir)}: without the log's public keys nothing can be verified. Set SIGNING_KEY_DIR, or give --log.`,
    )
  return (origins) => {
    const logs = origins.map((origin) => ({ origin, vkeys: logVkeys(origin, { publicKeys }) }))
    return trusting({ logs })
  }
}
