// Names, arguments and options of the commands of the evidence log; each runs the file of its name in this folder.
import { InvalidArgumentError } from 'commander'
import type { NamedStream } from '../../formats/log/completeness.ts'
import { streamNames } from '../../formats/log/entry.ts'
import { idKinds, proofKinds, type IdKind } from '../../formats/log/ids.ts'
import { argument, argumentOf, command, mandatory, optional, parsed, repeated, required } from '../command.ts'
import { apiKey, problemsAsJson } from '../options.ts'

const TRUST = 'trusted log keys: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy'
const trust = required('<file>', TRUST)
const url = required('<address>', 'base address of the service')
const ownersKey = apiKey("the caller's own API key, or a key that may read everything")
const savedCheckpoints = repeated(
  '<file>',
  'signed checkpoint, saved earlier or elsewhere, that the log must contain; repeatable',
)
const logNumber = (byDefault: 'all' | 'the newest') =>
  parsed(
    (value) => {
      if (!/^[1-9][0-9]{0,8}$/.test(value)) throw new InvalidArgumentError('It must be a number from 1.')
      return Number(value)
    },
    '<number>',
    `the number at the end of the origin: use only this log (default: ${byDefault})`,
  )

export const exportLog = command('export', {
  about:
    'download the newest checkpoint with all its tiles and entries, or extend an earlier copy; exits 0 done, 1 the service contradicts the copy, 2 could not export',
  options: {
    url,
    key: apiKey('API key that may read everything; needed unless LOG_ACCESS is open'),
    to: required('<folder>', 'folder of the copy; made if it does not exist'),
    number: logNumber('the newest'),
  },
})

export const fsck = command('fsck', {
  about: 'check a copy of the log offline; exits 0 clean, 1 something is wrong, 2 could not check',
  args: { folder: argument('<folder>', 'folder that `log export` made') },
  options: { log: trust, checkpoint: savedCheckpoints },
})

export const proof = command('proof', {
  about:
    'fetch and check the proof that an artifact is in the log; exits 0 proven, 1 not proven, 2 could not check the proof or write its file',
  args: {
    kind: argumentOf(Object.keys(proofKinds), '<kind>', 'kind of the artifact'),
    id: argument(
      '<id>',
      'businessTransactionId of an authorization, a record, a refusal or a receipt (the newest); for other kinds the id of the artifact',
    ),
  },
  options: {
    url,
    key: apiKey('the API key of its owner, or a key that may read everything'),
    log: trust,
    hash: parsed(
      sha256Hex,
      '<sha256>',
      'expected hash of the artifact; for a receipt and a record the receiptHash',
    ),
    to: optional('<file>', 'save the proof to this file (.tlog-proof)'),
  },
})

export const absent = command('absent', {
  about:
    'prove that an id is in no covered entry of the logs, or count its entries; entries of the last hour may not be covered yet; exits 0 absent, 1 present or not proven, 2 could not check',
  args: {
    kind: argumentOf(Object.keys(idKinds) as IdKind[], '<kind>', 'kind of artifact that would have the id'),
    id: argument(
      '<id>',
      'businessTransactionId of an authorization, a receipt or a refusal; for other kinds the id of the artifact',
    ),
  },
  options: { url, key: ownersKey, log: trust, number: logNumber('all') },
})

export const complete = command('complete', {
  about:
    'list every log entry of a caller, capability, policy or approver and verify that none is missing; exits 0 complete, 1 not proven, 2 could not check',
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
    'recompute the logs in a database and compare every stored artifact with its entry; exits 0 clean, 1 something is wrong, 2 could not check',
  options: {
    log: optional('<file>', `${TRUST} (default: the log's public keys in SIGNING_KEY_DIR)`),
    checkpoint: savedCheckpoints,
    json: problemsAsJson,
  },
})

export const backfill = command('backfill', {
  about:
    'log the artifacts that were stored before the log began, while services run; each entry is marked as late',
})

export const reopen = command('reopen', {
  about: 'start the next log after the newest was frozen; the first entry of the new log discloses the loss',
  options: {
    checkpoint: repeated(
      '<file>',
      'signed checkpoint of the frozen log, from a witness or from the DATA_DIR of another instance; repeatable',
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
