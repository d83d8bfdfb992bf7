// countersign audit-pack: the evidence of a period with the keys to check it, compared with the evidence log hash by hash, verified, and a
// report for people. The log is copied first: everything under its checkpoint must then be in the lists that are read after it.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { authorization } from '../../formats/artifacts/authorization.ts'
import { entryOf } from '../../formats/artifacts/kinds.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { Fields } from '../../formats/json/fields.ts'
import { MAXIMUM_DELAY_SECONDS } from '../../formats/log/entry.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { CallerKey } from '../../formats/schemas/caller-key.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import type { PolicySummary } from '../../formats/schemas/policy-version.ts'
import { isTimestamp } from '../../formats/schemas/primitives.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { printable } from '../../formats/text/printable.ts'
import { counted } from '../../formats/text/text.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { CannotCheck, sayCannotCheck } from '../cannot-check.ts'
import type { Given } from '../command.ts'
import type { auditPack } from '../commands.ts'
import { LogFault } from '../fsck/log-source.ts'
import { serviceOf } from '../profile.ts'
import { get, jsonOf, type ServiceAt } from '../service.ts'
import { verifyFiles } from '../verify.ts'
import { readContradictions } from './contradictions.ts'
import { entriesOf, exportRange, isWithin, writeLines, type Period } from './lists.ts'
import { closingLines, doubtRow, isOpen, withWhatIsKnown, type WithoutRecord } from './doubts.ts'
import { fetchLogs, lossWarning, type LoggedHashes } from './log.ts'

/** How many hashes and ids a sentence names; the others are counted. */
const NAMED_MAX = 20
/** Evidence that is younger than this when the pack is begun need not be under a checkpoint yet. */
const SETTLED_MS = 2 * MAXIMUM_DELAY_SECONDS * 1_000

/**
 * Makes the pack and prints its contents.
 * @param threadFile as `verifyCommand` takes it
 * @returns the exit code: 0 everything is there and valid, 1 something is missing, invalid or not in the log, 2 it could not be checked
 */
export async function auditPackCommand(
  request: Given<typeof auditPack>,
  threadFile: URL,
): Promise<0 | 1 | 2> {
  try {
    return await makePack(request, threadFile)
  } catch (error) {
    return sayCannotCheck(error)
  }
}

async function makePack(
  { output: folder, since, until, ...given }: Given<typeof auditPack>,
  threadFile: URL,
): Promise<0 | 1 | 2> {
  for (const [name, time] of Object.entries({ since, until }))
    if (time !== undefined && !isTimestamp(time))
      throw new CannotCheck(`--${name} must be a time as in 2026-03-02T10:00:00Z.`)
  // All files, also the copy of the log and the report, are readable by their owner alone.
  process.umask(0o077)
  const service = serviceOf(given)
  const period: Period = { since, until }
  const begunMs = Date.now()
  makeFolder(folder)
  const { callerId } = (await answer(service, '/callers/me')) as { callerId: string }
  const logged = await loggedBy(service, folder)
  const jwks = await saveKeys(service, folder)
  const found = await saveExecutions(service, { folder, period, logged: logged.hashes, begunMs })
  const contradictions = await readContradictions(service, period, (id) => found.ids.has(id))
  const { confirmations } = contradictions
  await writeLines(join(folder, CONFIRMATIONS), 'provider-confirmation', period, confirmations)
  const lists = await saveDecisions(service, folder, period)
  const firstPolicies = await policiesOfFirstStart(service)
  const completeness = completenessOf(found, logged, period)
  const report = join(folder, 'report.html')
  const facts = [
    [
      'Service',
      `${service.url}${logged.hashes === undefined ? '' : `, log ${logged.hashes.checkpoints.at(-1)?.split(': ')[0]}`}`,
    ],
    ['Period', `${since ?? 'the beginning'} to ${until ?? new Date(begunMs).toISOString()}`],
    ['Made', `${new Date(begunMs).toISOString()} by countersign audit-pack, with the key of ${callerId}`],
  ] as const
  // Confirmations first: they are compared with the ends of their executions while that evidence is read.
  const files = [
    ...(confirmations.length > 0 ? [CONFIRMATIONS] : []),
    'records.ndjson',
    'refusals.ndjson',
    ...found.files,
    ...lists,
  ].map((name) => join(folder, name))
  const verified = await verifyFiles(
    { files, jwks, log: undefined, json: false, quiet: true, report },
    threadFile,
    {
      facts,
      warnings: completeness.warnings,
      completeness: completeness.lines,
      completenessCode: completeness.code,
      isCompared: logged.hashes !== undefined,
      inDoubt: found.without.map(doubtRow),
      differences: contradictions.differences,
      firstPolicies,
    },
  )
  const said = [
    ...completeness.warnings,
    ...closingLines(found.without, NAMED_MAX),
    ...completeness.lines.toReversed(),
  ]
  for (const line of said) console.log(printable(line))
  console.error(printable(`The report is ${report}.`))
  const codes = [verified, completeness.code]
  return codes.includes(1) ? 1 : codes.includes(2) ? 2 : 0
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (readdirSync(folder).length > 0)
    throw new CannotCheck(`${folder} is not empty: a pack is made in a folder of its own.`)
}

const answer = async (service: ServiceAt, path: string) => jsonOf(await get(service, path))

interface Logged {
  /** Undefined where there is no log that can be compared. */
  readonly hashes: LoggedHashes | undefined
  readonly problem?: string
  readonly code: 0 | 1 | 2
}

/** A log that is invalid or off leaves the rest of the pack complete. */
async function loggedBy(service: ServiceAt, folder: string): Promise<Logged> {
  try {
    return { hashes: await fetchLogs(service, folder), code: 0 }
  } catch (error) {
    const problem = errorText(error).replace(/\.$/, '')
    return { hashes: undefined, problem, code: error instanceof LogFault ? 1 : 2 }
  }
}

/** @returns the files */
async function saveKeys(service: ServiceAt, folder: string): Promise<string[]> {
  const save = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name)
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 })
    return path
  }
  const keys = save('keys.json', (await get(service, '/.well-known/jwks.json')).body)
  const approvers = save('approver-keys.json', (await get(service, '/.well-known/approver-keys.json')).body)
  const stepUp = new Map<string, Set<string>>()
  for await (const entry of entriesOf(service, '/caller-keys', 'callerKeys')) {
    const { callerId, stepUpPublicKey } = entry as unknown as CallerKey
    if (stepUpPublicKey === undefined) continue
    stepUp.set(callerId, (stepUp.get(callerId) ?? new Set()).add(stepUpPublicKey))
  }
  // If a human has had several keys, it is not known here which one counted at the time.
  const sets = [...stepUp].flatMap(([callerId, pems]) =>
    pems.size === 1 ? [{ keyId: `${callerId}:step-up`, algorithm: 'ed25519', pem: [...pems][0] }] : [],
  )
  if (sets.length === 0) return [keys, approvers]
  return [keys, approvers, save('step-up-keys.json', JSON.stringify({ keys: sets }))]
}

/** The confirmations of executions that one of their deliveries contradicts. */
const CONFIRMATIONS = 'confirmations.ndjson'

/** The versions that were in effect before any human could approve one, each with the time of the first start, ISO 8601. */
async function policiesOfFirstStart(service: ServiceAt) {
  const found: { version: string; at: string }[] = []
  for (let page = 1; ; page++) {
    const path = `/policies?pageSize=100&page=${page}`
    const { policies } = (await answer(service, path)) as { policies: readonly PolicySummary[] }
    for (const { name, version, approvedBy, approvedAt = '' } of policies)
      if (approvedBy === 'genesis') found.push({ version: `${name} ${version}`, at: approvedAt })
    if (policies.length < 100) return found
  }
}

interface Found {
  /** The businessTransactionIds of the period. */
  readonly ids: ReadonlySet<string>
  /** Records, refusals and closed executions of the period that the log has. */
  readonly logged: number
  /** Ids of the evidence that the log should have and does not have. */
  readonly unlogged: readonly string[]
  /** How many are too young to be missed in the log. */
  readonly young: number
  /** Executions of the period that have neither record nor refusal. */
  readonly without: readonly WithoutRecord[]
  /** The files with the evidence of their ends. */
  readonly files: readonly string[]
}

/** Saves records, refusals and executions without either; compares them, and those outside the period, with the log. */
async function saveExecutions(
  service: ServiceAt,
  {
    folder,
    period,
    logged,
    begunMs,
  }: { folder: string; period: Period; logged: LoggedHashes | undefined; begunMs: number },
): Promise<Found> {
  const [ids, ofPeriod] = [new Set<string>(), new Set<string>()]
  const unlogged: string[] = []
  let [count, young] = [0, 0]
  const add = (id: string, at: string, hash: string) => {
    if (logged === undefined || logged.take(hash)) count++
    else if (Date.parse(at) > begunMs - SETTLED_MS) young++
    else unlogged.push(id)
  }
  const { since, until } = period
  for (const [path, name, hashOf] of EXPORTED) {
    await exportRange(service, { path, ...period, to: join(folder, name) }, (piece) => {
      ids.add(String(piece['businessTransactionId']))
      ofPeriod.add(String(piece['businessTransactionId']))
      add(String(piece['businessTransactionId']), String(piece['createdAt']), hashOf(piece))
    })
    // Outside the period too: the log has no times, so only the evidence itself tells its entries apart.
    const outside = [
      ...(since === undefined ? [] : [{ since: undefined, until: since }]),
      ...(until === undefined ? [] : [{ since: until, until: undefined }]),
    ]
    for (const range of outside)
      await exportRange(service, { path, ...range }, (piece) => {
        ids.add(String(piece['businessTransactionId']))
        logged?.take(hashOf(piece))
      })
  }
  const intents: ExecutionIntent[] = []
  for await (const intent of intentsWithout(service, ids, logged)) {
    const { payload } = intent.authorization
    const hash = entryOf(authorization, canonicalize(payload), sha256Hex).hash
    if (!isWithin(payload.authorizedAt, period)) {
      logged?.take(hash)
      continue
    }
    intents.push(intent)
    ofPeriod.add(payload.businessTransactionId)
    if (isOpen(intent)) logged?.take(hash)
    else add(payload.businessTransactionId, payload.authorizedAt, hash)
  }
  const without = await withWhatIsKnown(service, intents)
  const transactions = without.flatMap(({ transaction }) => (transaction === undefined ? [] : [transaction]))
  writeFileSync(join(folder, 'without-record.json'), `${JSON.stringify({ intents, transactions })}\n`, {
    mode: 0o600,
  })
  const transitions = intents.flatMap((intent) => intent.transitions)
  await writeLines(join(folder, TRANSITIONS), 'intent-transition', period, transitions)
  // A file without evidence cannot be verified.
  const files = transitions.length > 0 ? [TRANSITIONS] : []
  return { ids: ofPeriod, logged: count, unlogged, young, without, files }
}

/** How executions without a record ended: each end is signed. */
const TRANSITIONS = 'transitions.ndjson'

const EXPORTED: readonly (readonly [path: string, file: string, hashOf: (piece: Fields) => string])[] = [
  [
    '/trust-records',
    'records.ndjson',
    ({ authorization: { payload } = {} }: { authorization?: { payload?: Json } }) =>
      entryOf(authorization, canonicalize(payload ?? null), sha256Hex).hash,
  ],
  [
    '/refusals',
    'refusals.ndjson',
    (piece) => {
      const { refusalRecordHash: _, signature: _1, ...signed } = piece
      return sha256Hex(canonicalize(signed as Readonly<Record<string, Json>>))
    },
  ],
]

/** The executions in doubt; and, as long as the log has entries that nothing explains, every other execution without record or refusal. */
async function* intentsWithout(
  service: ServiceAt,
  ids: ReadonlySet<string>,
  logged: LoggedHashes | undefined,
): AsyncGenerator<ExecutionIntent> {
  const known = new Set(ids)
  for await (const entry of entriesOf(service, '/execution-intents/unfinalized', 'intents')) {
    const intent = entry as unknown as ExecutionIntent
    known.add(intent.businessTransactionId)
    yield intent
  }
  if (logged?.left().length === 0) return
  for await (const { businessTransactionId } of entriesOf(service, '/transactions?pageSize=100', undefined)) {
    const id = String(businessTransactionId)
    if (known.has(id)) continue
    const path = `/execution-intents/${id}`
    const found = await get(service, path, { accept: [404] })
    if (found.status === 200) yield jsonOf(found) as ExecutionIntent
  }
}

/** Saves the requests to humans and their decisions. @returns the files of evidence among them */
async function saveDecisions(service: ServiceAt, folder: string, period: Period): Promise<string[]> {
  const files: string[] = []
  const collect = async (path: string, member: string, isOf: (entry: Fields) => boolean) => {
    const entries: Fields[] = []
    for await (const entry of entriesOf(service, path, member)) if (isOf(entry)) entries.push(entry)
    return entries
  }
  const save = async (name: string, kind: string, entries: readonly Fields[]) => {
    await writeLines(join(folder, name), kind, period, entries)
    // A file without evidence cannot be verified.
    if (entries.length > 0) files.push(name)
  }
  const requests = await collect('/approval-requests?pageSize=100', 'requests', (entry) =>
    isWithin((entry as unknown as ApprovalRequest).request.createdAt, period),
  )
  await save('requests.ndjson', 'approval-request', requests)
  const changes = await collect('/changes?pageSize=100', 'changes', (entry) => {
    const { proposedAt, resolvedAt = proposedAt } = entry as unknown as Change
    return isWithin(proposedAt, period) || isWithin(resolvedAt, period)
  })
  await save('changes.ndjson', 'governance-change', changes)
  const approvals = await collect('/approvals?pageSize=100', 'approvals', (entry) =>
    isWithin(String(entry['deliveredAt']), period),
  )
  writeFileSync(join(folder, 'approvals.json'), `${JSON.stringify({ approvals })}\n`, { mode: 0o600 })
  return files
}

interface Completeness {
  /** Sentences that stand above everything else. */
  readonly warnings: readonly string[]
  /** The first line sums up the others. */
  readonly lines: readonly string[]
  readonly code: 0 | 1 | 2
}

function completenessOf(
  { logged: count, unlogged, young, without }: Found,
  { hashes, problem, code }: Logged,
  period: Period,
): Completeness {
  const doubts = without.filter(({ intent }) => isOpen(intent)).length
  if (hashes === undefined)
    return {
      warnings: [],
      lines: [`${count} found, not compared with the log: ${problem}; ${doubts} more in doubt`],
      code,
    }
  const missing = hashes.left()
  const lines = [
    `${count} of ${count + missing.length} that the log counts, ${doubts} more in doubt`,
    ...missing
      .slice(0, NAMED_MAX)
      .map(
        ({ kind, hash, index, origin }) =>
          `Missing: the ${kind} with the hash ${hash}, entry ${index} of ${origin}.`,
      ),
    ...(missing.length > NAMED_MAX ? [`Missing: ${missing.length - NAMED_MAX} more.`] : []),
    ...(missing.length > 0
      ? ['The log does not say of which time its entries are: what is missing may be of another period.']
      : []),
    ...(unlogged.length > 0
      ? [
          `Not in the log: ${unlogged.slice(0, NAMED_MAX).join(', ')}${unlogged.length > NAMED_MAX ? ', …' : ''} (${unlogged.length}).`,
        ]
      : []),
    ...(young > 0
      ? [
          `${counted(young, 'execution')} or refusals of the last ${SETTLED_MS / 1_000} seconds are not under the checkpoint yet.`,
        ]
      : []),
    ...hashes.checkpoints,
  ]
  const warnings = hashes.losses.map(lossWarning)
  if (missing.length + unlogged.length > 0) return { warnings, lines, code: 1 }
  // Lost entries were logged earlier: a period that begins later has none of them.
  const isOfPeriod = hashes.losses.some(
    ({ reopenedAt }) => period.since === undefined || Date.parse(reopenedAt) > Date.parse(period.since),
  )
  return { warnings, lines, code: isOfPeriod ? 2 : 0 }
}
