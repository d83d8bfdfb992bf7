// Bundles whose proofs are missing, of something else, or wrong.
import type { Cases } from '../case.ts'
import { at, put, type Json, type Members } from '../edit.ts'

import { sha256 } from '../keys.ts'
import { aLog } from '../logs.ts'
import {
  CHECKPOINT,
  FIRST,
  LOG,
  ORDER,
  PROOFS,
  type Part,
  type Plan,
  bundle,
  confirmed,
  entryOf,
  filler,
  governed,
  plain,
  proven,
  requested,
  spoiledLine,
  withPart,
} from './plan.ts'

export function wrongProofs(all: Cases): void {
  const governedPlan = governed()
  const complete = bundle(governedPlan)
  const without = (kind: string) => ({
    ...complete,
    proofs: (complete['proofs'] as Members[]).filter((one) => one['kind'] !== kind),
  })
  for (const kind of ['change', 'approval', 'authorization', 'receipt'])
    all.add(`no-proof-of-${kind}`, `No proof of kind ${kind} is there.`, without(kind), [PROOFS, ORDER])
  const confirmedPlan = confirmed()
  const [own, receipted, confirmation] = confirmedPlan.parts as [Part, Part, Part]
  const confirmedBundle = bundle(confirmedPlan)
  all.add(
    'no-proof-of-confirmation',
    'No proof of its confirmation is there.',
    put(confirmedBundle, 'proofs', (confirmedBundle['proofs'] as Members[]).slice(0, 2)),
    [PROOFS, ORDER],
  )
  all.add(
    'confirmation-before',
    'It was confirmed before it was authorized.',
    bundle({ ...confirmedPlan, parts: [confirmation, own, receipted] }),
    [ORDER],
  )
  all.add(
    'confirmation-removed',
    'The proof of its confirmation is there, and the confirmation is not.',
    bundle({ ...plain(), parts: confirmedPlan.parts }),
    [PROOFS],
  )
  const requestedPlan = requested()
  const request = requestedPlan.parts.find(({ kind }) => kind === 'approval-request')!
  const requestedBundle = bundle(requestedPlan)
  const ofOthers = (requestedBundle['proofs'] as Members[]).filter(({ kind }) => kind !== 'approval-request')
  const noRequest = put(requestedBundle, 'proofs', ofOthers)
  all.add('no-proof-of-request', 'No proof of the approval request is there.', noRequest, [PROOFS, ORDER])
  all.add(
    'request-behind-approval',
    'An approval stands before the request that it is for.',
    bundle(withPart(requestedPlan, request, ({ id }) => id === requestedPlan.parts.at(-3)?.id)),
    [ORDER],
  )
  all.add(
    'request-behind-authorization',
    'It was asked for when it was authorized already.',
    bundle(withPart(requestedPlan, request, ({ kind }) => kind === 'receipt')),
    [ORDER],
  )
  all.add(
    'request-of-another',
    'The proof is of another request of the same id.',
    bundle(
      requestedPlan,
      proven(
        requestedPlan.parts.map((one) =>
          one === request ? { ...one, entry: entryOf('approval-request', sha256('another')) } : one,
        ),
      ),
    ),
    [PROOFS, ORDER],
  )
  const plan = plain()
  const [authorization, receipt] = plan.parts as [Part, Part]
  const [first, second] = proven(plan.parts) as [Members, Members]
  const wrong = (id: string, what: string, proofs: Json, failing: string[] = [PROOFS, ORDER]) =>
    all.add(`proof-${id}`, what, put(bundle(plan), 'proofs', proofs), failing)
  const edited = (change: (proof: string) => string) => [
    first,
    put(second, 'proof', change(second['proof'] as string)),
  ]
  wrong('twice', 'A proof stands there twice.', [first, second, second])
  wrong(
    'needless',
    'A proof of something else is there too.',
    [first, second, put(first, 'kind', 'event')],
    [PROOFS],
  )
  wrong('other-id', 'A proof names another id.', [
    first,
    put(second, 'id', at(complete, 'record.businessTransactionId')),
  ])
  wrong('other-kind', 'A proof names another kind.', [first, put(second, 'kind', 'record')])
  wrong('swapped', 'Two proofs are swapped.', [
    put(first, 'proof', second['proof']!),
    put(second, 'proof', first['proof']!),
  ])
  const withEntry = (entry: string) => proven([authorization, { ...receipt, entry }])
  const hash = at(plan.record, 'receipts.0.receiptHash') as string
  wrong('entry-kind', 'The log has the hash as that of a refusal.', withEntry(entryOf('refusal', hash)))
  wrong(
    'entry-later-kind',
    'The log has the hash as that of an early receipt.',
    withEntry(entryOf('early-receipt', hash)),
  )
  wrong('entry-hash', 'The log has another receipt.', withEntry(entryOf('receipt', sha256('another'))))
  wrong('entry-version', 'The entry is of another version.', withEntry(`countersign/2 receipt ${hash}`))
  wrong('entry-newline', 'The entry ends with a newline.', withEntry(`${entryOf('receipt', hash)}\n`))
  wrong(
    'entry-upper-case',
    'The hash of the entry is in upper case.',
    withEntry(entryOf('receipt', hash.toUpperCase())),
  )
  const log = aLog(FIRST, [filler(0), authorization.entry, filler(1), filler(2), filler(3)])
  const claiming = (proof: string) => [
    { kind: 'authorization', id: authorization.id, proof: log.proof(1) },
    { kind: 'receipt', id: receipt.id, proof },
  ]
  wrong(
    'entry-claimed',
    'The proof claims an entry that the log does not have there.',
    claiming(log.proof(3, { entry: receipt.entry })),
  )
  wrong(
    'entry-missing',
    'The proof holds no entry.',
    edited((proof) => proof.replace(/extra .*\n/, '')),
  )
  wrong(
    'entry-not-base64',
    'The entry is not base64.',
    edited((proof) => proof.replace(/extra ./, 'extra *')),
  )
  wrong(
    'index',
    'The index is another one.',
    edited((proof) => proof.replace('index 3', 'index 2')),
  )
  wrong(
    'index-beyond',
    'The index is beyond the end of the log.',
    edited((proof) => proof.replace('index 3', 'index 5')),
  )
  wrong(
    'index-zero',
    'The index has a leading zero.',
    edited((proof) => proof.replace('index 3', 'index 03')),
  )
  wrong(
    'index-missing',
    'There is no index.',
    edited((proof) => proof.replace('index 3\n', '')),
  )
  wrong(
    'path',
    'A hash of the path is another one.',
    edited((proof) => spoiledLine(proof, 3)),
  )
  wrong(
    'path-short',
    'The path lacks a hash.',
    edited((proof) => proof.replace(/(index 3\n).*\n/, '$1')),
  )
  wrong(
    'path-long',
    'The path has a hash too many.',
    edited((proof) => proof.replace(/(index 3\n)(.*\n)/, '$1$2$2')),
  )
  wrong(
    'path-not-base64',
    'A hash of the path is not base64.',
    edited((proof) => proof.replace(/(index 3\n)./, '$1*')),
  )
  wrong(
    'header',
    'The first line is that of another version.',
    edited((proof) => proof.replace('@v1', '@v2')),
  )
  wrong(
    'carriage-return',
    'The lines end with carriage return and newline.',
    edited((proof) => proof.replaceAll('\n', '\r\n')),
  )
  wrong(
    'no-checkpoint',
    'The proof has no checkpoint.',
    edited((proof) => proof.slice(0, proof.indexOf('\n\n') + 2)),
  )
  wrong('size', 'The size in the checkpoint was changed.', bundleOfSize(plan), [CHECKPOINT, PROOFS, ORDER])
  wrong(
    'empty',
    'A proof is an empty text.',
    edited(() => ''),
  )
  wrong('null', 'A proof is null.', [first, put(second, 'proof', null)])
  wrong('no-object', 'A proof is a text in place of an object.', [first, second['proof']!])
  wrong('none', 'There is no proof.', [], LOG)
  wrong('list-null', 'The proofs are null.', null, LOG)
}

/** Every checkpoint states a size that was not signed. */
function bundleOfSize(plan: Plan): Members[] {
  return proven(plan.parts).map((one) =>
    put(one, 'proof', (one['proof'] as string).replace(`${FIRST}\n5\n`, `${FIRST}\n9\n`)),
  )
}
