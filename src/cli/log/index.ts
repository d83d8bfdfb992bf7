// The commands of the evidence log, each in a file beside this one.
import { Argument, InvalidArgumentError, Option, type Command } from 'commander'
import type { NamedStream } from '../../formats/log/completeness.ts'
import { streamNames } from '../../formats/log/entry.ts'
import { idKinds, proofKinds, type IdKind } from '../../formats/log/ids.ts'
import { apiKey, collected, problemsAsJson } from '../options.ts'

const TRUST = 'whom you trust: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy'

export function defineLog(log: Command): void {
  defineCopies(log)
  defineProofs(log)
  defineUpkeep(log)
}

/** A copy of the log, and its check. */
function defineCopies(log: Command): void {
  log
    .command('export')
    .description(
      'download the newest checkpoint with all its tiles and entries; a later run adds what is new; exits 0 done, 1 the service contradicts the copy, 2 could not export',
    )
    .requiredOption('--url <address>', 'base address of the service')
    .addOption(apiKey('API key that may read everything; needed where LOG_ACCESS is not open'))
    .requiredOption('--to <folder>', 'made if it is not there')
    .addOption(numberOption('the newest'))
    .action(async (options: { url: string; key?: string; to: string; number?: number }) => {
      const { exportCommand } = await import('./export.ts')
      const { url, key, to, number } = options
      process.exitCode = await exportCommand({ url, key, folder: to, number })
    })

  log
    .command('fsck')
    .description(
      'check a copy of the log from its bytes alone; exits 0 clean, 1 something is wrong, 2 could not check',
    )
    .argument('<folder>', 'as `log export` made it')
    .requiredOption('--log <file>', TRUST)
    .addOption(savedCheckpoints())
    .action(async (folder: string, options: { log: string; checkpoint?: string[] }) => {
      const { fsckCommand } = await import('./fsck.ts')
      const { log: trust, checkpoint: checkpoints = [] } = options
      process.exitCode = await fsckCommand({ folder, trust, checkpoints })
    })
}

/** Defines the commands by which a running service proves something by its log. */
function defineProofs(log: Command): void {
  log
    .command('proof')
    .description(
      'fetch the proof that an artifact is in the log, and check it; exits 0 it holds, 1 it does not, 2 could not check or keep it',
    )
    .addArgument(new Argument('<kind>', 'what is proven').choices(Object.keys(proofKinds)))
    .argument(
      '<id>',
      'a businessTransactionId for an authorization, a receipt (the newest), a record and a refusal',
    )
    .requiredOption('--url <address>', 'base address of the service')
    .addOption(apiKey('API key of its owner, or one that may read everything'))
    .requiredOption('--log <file>', TRUST)
    .option(
      '--hash <sha256>',
      'what the entry must be of; for a receipt and a record the receiptHash',
      sha256Hex,
    )
    .option('--to <file>', 'keep the proof (.tlog-proof)')
    .action(
      async (
        kind: string,
        id: string,
        options: { url: string; key?: string; log: string; hash?: string; to?: string },
      ) => {
        const { proofCommand } = await import('./proof.ts')
        const { url, key, log: trust, hash, to } = options
        process.exitCode = await proofCommand({ kind, id, url, key, trust, hash, to })
      },
    )

  log
    .command('absent')
    .description(
      'prove that an id is not among the covered entries of all logs of the service, or how often it is; those of the last hour may not be covered yet; exits 0 not among them, 1 there or not proven, 2 could not check',
    )
    .addArgument(new Argument('<kind>', 'what would have it').choices(Object.keys(idKinds)))
    .argument('<id>', 'a businessTransactionId for an authorization, a receipt and a refusal')
    .requiredOption('--url <address>', 'base address of the service')
    .addOption(apiKey("API key: the caller's own, or one that may read everything"))
    .requiredOption('--log <file>', TRUST)
    .addOption(numberOption('all'))
    .action(
      async (
        kind: IdKind,
        id: string,
        options: { url: string; key?: string; log: string; number?: number },
      ) => {
        const { absentCommand } = await import('./absent.ts')
        const { url, key, log: trust, number } = options
        process.exitCode = await absentCommand({ kind, id, url, key, trust, number })
      },
    )

  log
    .command('complete')
    .description(
      'list everything that the log holds of a caller, capability, policy or approver, and verify that nothing is missing; exits 0 complete, 1 not proven, 2 could not check',
    )
    .requiredOption(
      '--stream <name=value>',
      'caller=<id>, capability=<action>, policy=<name> or approver=<id>',
      stream,
    )
    .requiredOption('--url <address>', 'base address of the service')
    .addOption(apiKey("API key: the caller's own, or one that may read everything"))
    .requiredOption('--log <file>', TRUST)
    .addOption(numberOption('the newest'))
    .action(
      async (options: { stream: NamedStream; url: string; key?: string; log: string; number?: number }) => {
        const { completeCommand } = await import('./complete.ts')
        const { url, key, log: trust } = options
        process.exitCode = await completeCommand({ ...options, service: { url, key }, trust })
      },
    )
}

interface AuditOptions {
  readonly log?: string
  readonly checkpoint?: string[]
  readonly json?: true
}

/** Defines the commands by which an operator maintains the log in a database. */
function defineUpkeep(log: Command): void {
  log
    .command('audit')
    .description(
      'check the logs of a database from their bytes, and every stored artifact against its entry; exits as `fsck` does',
    )
    .option('--log <file>', `${TRUST} (default: the log's public keys in SIGNING_KEY_DIR)`)
    .addOption(savedCheckpoints())
    .addOption(problemsAsJson())
    .action(async ({ log: trust, checkpoint: checkpoints = [], json }: AuditOptions) => {
      const { auditCommand } = await import('./audit.ts')
      process.exitCode = await auditCommand(process.env, { trust, checkpoints, json: json === true })
    })

  log
    .command('backfill')
    .description(
      'log what is stored from before the log, beside running services; each entry says that it is late',
    )
    .action(async () => {
      const { backfill } = await import('./backfill.ts')
      process.exitCode = await backfill(process.env)
    })

  log
    .command('reopen')
    .description(
      'start the next log where the newest is frozen; what it lost is disclosed in its first entry',
    )
    .option(
      '--checkpoint <file>',
      'a signed checkpoint of the frozen log, from a witness or from the DATA_DIR of another instance; repeatable',
      collected,
    )
    .action(async ({ checkpoint = [] }: { checkpoint?: string[] }) => {
      const { reopen } = await import('./reopen.ts')
      process.exitCode = await reopen(process.env, { checkpoints: checkpoint })
    })
}

function savedCheckpoints(): Option {
  return new Option(
    '--checkpoint <file>',
    'a signed checkpoint that was saved earlier or elsewhere, which the log must still begin with; repeatable',
  ).argParser(collected)
}

function numberOption(byDefault: 'all' | 'the newest'): Option {
  return new Option(
    '--number <number>',
    `of the only log to ask, as its origin ends (default: ${byDefault})`,
  ).argParser(logNumber)
}

function stream(text: string): NamedStream {
  const [, given, value = ''] = /^([^=]*)=(.+)$/s.exec(text) ?? []
  const name = streamNames.find((known) => known === given)
  if (name === undefined)
    throw new InvalidArgumentError(`It must be one of ${streamNames.join(', ')}, an equals sign and a name.`)
  return { name, value }
}

function sha256Hex(value: string): string {
  if (!/^[0-9a-f]{64}$/.test(value)) throw new InvalidArgumentError('It must be 64 digits of lowercase hex.')
  return value
}

function logNumber(value: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(value)) throw new InvalidArgumentError('It must be a number from 1.')
  return Number(value)
}
