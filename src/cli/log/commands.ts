// What the commands of the evidence log are called and take; each runs what a file beside this one has.
import { InvalidArgumentError } from 'commander'
import type { NamedStream } from '../../formats/log/completeness.ts'
import { streamNames } from '../../formats/log/entry.ts'
import { idKinds, proofKinds, type IdKind } from '../../formats/log/ids.ts'
import { argument, argumentOf, command, mandatory, optional, parsed, repeated, required } from '../command.ts'
import { apiKey, problemsAsJson } from '../options.ts'

const TRUST = 'whom you trust: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy'
const trust = required('<file>', TRUST)
const url = required('<address>', 'base address of the service')
const ownersKey = apiKey("API key: the caller's own, or one that may read everything")
const savedCheckpoints = repeated(
  '<file>',
  'a signed checkpoint that was saved earlier or elsewhere, which the log must still begin with; repeatable',
)
const logNumber = (byDefault: 'all' | 'the newest') =>
  parsed(
    (value) => {
      if (!/^[1-9][0-9]{0,8}$/.test(value)) throw new InvalidArgumentError('It must be a number from 1.')
      return Number(value)
    },
    '<number>',
    `of the only log to ask, as its origin ends (default: ${byDefault})`,
  )

export const exportLog = command('export', {
  about:
    'download the newest checkpoint with all its tiles and entries; a later run adds what is new; exits 0 done, 1 the service contradicts the copy, 2 could not export',
  options: {
    url,
    key: apiKey('API key that may read everything; needed where LOG_ACCESS is not open'),
    to: required('<folder>', 'made if it is not there'),
    number: logNumber('the newest'),
  },
})

export const fsck = command('fsck', {
  about:
    'check a copy of the log from its bytes alone; exits 0 clean, 1 something is wrong, 2 could not check',
  args: { folder: argument('<folder>', 'as `log export` made it') },
  options: { log: trust, checkpoint: savedCheckpoints },
})

export const proof = command('proof', {
  about:
    'fetch the proof that an artifact is in the log, and check it; exits 0 it holds, 1 it does not, 2 could not check or keep it',
  args: {
    kind: argumentOf(Object.keys(proofKinds), '<kind>', 'what is proven'),
    id: argument(
      '<id>',
      'a businessTransactionId for an authorization, a receipt (the newest), a record and a refusal',
    ),
  },
  options: {
    url,
    key: apiKey('API key of its owner, or one that may read everything'),
    log: trust,
    hash: parsed(
      sha256Hex,
      '<sha256>',
      'what the entry must be of; for a receipt and a record the receiptHash',
    ),
    to: optional('<file>', 'keep the proof (.tlog-proof)'),
  },
})

export const absent = command('absent', {
  about:
    'prove that an id is not among the covered entries of all logs of the service, or how often it is; those of the last hour may not be covered yet; exits 0 not among them, 1 there or not proven, 2 could not check',
  args: {
    kind: argumentOf(Object.keys(idKinds) as IdKind[], '<kind>', 'what would have it'),
    id: argument('<id>', 'a businessTransactionId for an authorization, a receipt and a refusal'),
  },
  options: { url, key: ownersKey, log: trust, number: logNumber('all') },
})

export const complete = command('complete', {
  about:
    'list everything that the log holds of a caller, capability, policy or approver, and verify that nothing is missing; exits 0 complete, 1 not proven, 2 could not check',
  options: {
    stream: mandatory(
      parsed(stream, '<name=value>', 'caller=<id>, capability=<action>, policy=<name> or approver=<id>'),
    ),
    url,
    key: ownersKey,
    log: trust,
    number: logNumber('the newest'),
  },
})

export const audit = command('audit', {
  about:
    'check the logs of a database from their bytes, and every stored artifact against its entry; exits as `fsck` does',
  options: {
    log: optional('<file>', `${TRUST} (default: the log's public keys in SIGNING_KEY_DIR)`),
    checkpoint: savedCheckpoints,
    json: problemsAsJson,
  },
})

export const backfill = command('backfill', {
  about: 'log what is stored from before the log, beside running services; each entry says that it is late',
})

export const reopen = command('reopen', {
  about: 'start the next log where the newest is frozen; what it lost is disclosed in its first entry',
  options: {
    checkpoint: repeated(
      '<file>',
      'a signed checkpoint of the frozen log, from a witness or from the DATA_DIR of another instance; repeatable',
    ),
  },
})

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
