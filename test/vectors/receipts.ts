// The receipts among the published vectors (interface §2.4, decisions §4 "Receipt").
import { aPlace, batchTampering, signAt, signTogether } from './batches.ts'
import { Cases, forgeries, spoiled, type Case } from './case.ts'
import { change, drop, put, textAt, type Json, type Members } from './edit.ts'
import {
  aReceipt,
  aRecordBody,
  aVerification,
  promised,
  receiptBy,
  receiptMembers,
  receiptOf,
  seal,
  sealRefusal,
  aRefusalBody,
  time,
  uuid,
} from './evidence.ts'
import { hybridTampering } from './hybrid.ts'
import { keys, modes, sha256, sign, canonical, type Mode, type Signature, revokedKey } from './keys.ts'
import { addRevoked } from './revoked.ts'

const HASH = 'receipt hash'
const SIGNATURE = 'receipt signature'
const BOTH = [HASH, SIGNATURE]

export function receiptCases(): Case[] {
  const all = new Cases('receipt')
  const record = seal(aRecordBody({ name: 'receipt' }, modes.ed25519), modes.ed25519)
  const content = receiptOf(record, aVerification(record))
  const receipt = aReceipt(content, modes.ed25519)
  const hybrid = aReceipt(content, modes.hybrid)

  for (const mode of Object.keys(modes) as Mode[])
    all.add(`valid-${mode}`, `A receipt as the server issues it, ${mode}.`, aReceipt(content, modes[mode]))
  all.addUnsigned(
    'in-signatures',
    'One of its signatures has a member that nothing signs.',
    hybrid,
    'signatures.0.signedBy',
  )
  addRevoked(
    all,
    { signedAs: 'receipt', time: 'issuedAt' },
    (when) => aReceipt({ ...content, issuedAt: when }, [revokedKey]),
    ['receipt signature'],
  )
  const turned = [keys.mlDsa65, keys.ed25519]
  all.add(
    'valid-hybrid-ml-dsa-65-first',
    'A hybrid receipt whose first algorithm is ML-DSA-65.',
    aReceipt(content, turned),
  )
  all.add(
    'valid-rotated-key',
    'Signed by a key that was rotated out and is still published.',
    aReceipt(content, [keys.oldEd25519]),
  )
  all.add(
    'valid-reversed-members',
    'The order of members means nothing.',
    Object.fromEntries(Object.entries(receipt).toReversed()),
  )

  promises(all, content)

  const other: Record<string, Json> = {
    receiptId: uuid('another'),
    businessTransactionId: uuid('another'),
    verificationId: uuid('another'),
    trustRecordHash: sha256('another'),
    issuedAt: '2026-11-21T01:00:00.021Z',
    keyId: keys.oldEd25519.keyId,
    algorithm: 'ml-dsa-65',
    receiptHash: sha256('another'),
  }
  for (const [member, value] of Object.entries(other))
    all.add(
      `changed-${member}`,
      `${member} was changed after the receipt was signed.`,
      put(receipt, member, value),
      BOTH,
    )
  for (const member of Object.keys(receipt).filter((name) => name !== 'receiptId')) {
    const failing = member === 'signature' ? [SIGNATURE] : BOTH
    all.add(`missing-${member}`, `${member} is missing.`, drop(receipt, member), failing)
    all.add(`null-${member}`, `${member} is null.`, put(receipt, member, null), failing)
  }
  all.add('number-signature', 'The signature is a number.', put(receipt, 'signature', 1), [SIGNATURE])
  all.add(
    'object-signature',
    "The signature has a record's form.",
    put(receipt, 'signature', {
      algorithm: 'ed25519',
      keyId: keys.ed25519.keyId,
      value: receipt['signature'] as Json,
    }),
    [SIGNATURE],
  )
  all.add(
    'list-signature',
    'The signature stands in a list.',
    put(receipt, 'signature', [receipt['signature'] as Json]),
    [SIGNATURE],
  )
  all.add(
    'added-member',
    'A member was added, which the signature would have to cover.',
    put(receipt, 'note', 'approved'),
    BOTH,
  )
  all.add(
    'embedded-key',
    'A key that is not published signed, and the receipt brings it along.',
    put(aReceipt(content, [{ ...keys.ed25519, seed: keys.oldEd25519.seed }]), 'jwk', {
      kty: 'OKP',
      crv: 'Ed25519',
    }),
    BOTH,
  )

  all.add(
    'wrong-hash-signed',
    'Its hash is another, and the right key signed that.',
    aReceipt(content, modes.ed25519, { receiptHash: sha256('another') }),
    [HASH],
  )
  all.add(
    'upper-case-hash-signed',
    'Its hash is in upper case, and the right key signed that.',
    aReceipt(content, modes.ed25519, { receiptHash: textAt(receipt, 'receiptHash').toUpperCase() }),
    [HASH],
  )
  all.add(
    'hash-of-record-signed',
    "Its hash is the record's, and the right key signed that.",
    aReceipt(content, modes.ed25519, { receiptHash: textAt(record, 'trustRecordHash') }),
    [HASH],
  )
  const another = aReceipt({ ...content, receiptId: uuid('another') }, modes.ed25519)
  all.add(
    'hash-of-other',
    'It carries the hash of another receipt.',
    put(receipt, 'receiptHash', another['receiptHash'] as Json),
    BOTH,
  )
  all.add(
    'signature-of-other',
    'It carries the signature of another receipt.',
    put(receipt, 'signature', another['signature'] as Json),
    [SIGNATURE],
  )
  all.add(
    'seal-of-other',
    'It carries hash and signature of another receipt.',
    { ...receipt, receiptHash: another['receiptHash'] as Json, signature: another['signature'] as Json },
    BOTH,
  )
  all.add(
    'signature-of-record',
    "It carries its record's signature.",
    put(receipt, 'signature', (record['signature'] as Members)['value'] as Json),
    [SIGNATURE],
  )
  const refusal = sealRefusal(aRefusalBody('receipt', 'rule'))
  all.add(
    'signature-of-refusal',
    "It carries a refusal record's signature.",
    put(receipt, 'signature', (refusal['signature'] as Members)['value'] as Json),
    [SIGNATURE],
  )
  all.add(
    'signature-over-its-hashed-members',
    'The right key signed the receipt without its hash.',
    put(
      receipt,
      'signature',
      sign('receipt', canonical(drop(drop(receipt, 'signature'), 'receiptHash')), keys.ed25519).value,
    ),
    [SIGNATURE],
  )

  for (const [id, what, forgery] of forgeries('receipt'))
    all.addForged(id, what, aReceipt(content, modes.ed25519, forgery), [SIGNATURE], forgery)
  for (const [id, what, forgery] of spoiled)
    all.add(
      `ml-dsa-65-${id}`,
      `${what} It is an ML-DSA-65 one.`,
      aReceipt(content, modes['ml-dsa-65'], forgery),
      [SIGNATURE],
    )

  for (const { id, what, evidence, kind } of hybridTampering(hybrid, 'signature'))
    all.add(id, what, evidence, kind === 'signed members' ? BOTH : [SIGNATURE])
  for (const [id, what, required] of [
    ['one', 'one algorithm, which is no hybrid', ['ed25519']],
    ['none', 'no algorithm', []],
    ['twice', 'one algorithm twice', ['ed25519', 'ed25519']],
    ['unknown', 'an algorithm that nobody knows', ['ed25519', 'rsa']],
    ['text', 'a text', 'ed25519,ml-dsa-65'],
  ] as const) {
    // aReceipt writes what the keys require: the claim is signed in its place.
    const claim = {
      ...content,
      algorithm: 'ed25519',
      keyId: keys.ed25519.keyId,
      requiredAlgorithms: typeof required === 'string' ? required : [...required],
    }
    const signed = { ...claim, receiptHash: sha256(canonical(claim)) }
    const one = sign('receipt', canonical(signed), keys.ed25519)
    const signatures = typeof required === 'string' ? [one] : required.map(() => one)
    all.add(
      `hybrid-signed-requires-${id}`,
      `The right key signed that it requires ${what}.`,
      { ...signed, signature: one.value, signatures },
      [SIGNATURE],
    )
  }
  all.add(
    'signatures-added',
    'A list of signatures was added to a receipt that requires one.',
    put(receipt, 'signatures', hybrid['signatures'] as Json),
    [SIGNATURE],
  )
  all.add(
    'hybrid-first-key-id',
    'keyId is not that of the first signature.',
    change(hybrid, 'keyId', () => keys.oldEd25519.keyId),
    BOTH,
  )

  batched(all, content)

  const text = JSON.stringify(receipt)
  all.addText(
    'text-whitespace',
    'White space between the members means nothing.',
    JSON.stringify(receipt, null, 4),
  )
  all.addText(
    'text-escapes',
    'A character may be written as its escape.',
    text.replace('"receiptId"', String.raw`"\u0072eceiptId"`),
  )
  all.addUnusable(
    'text-duplicate-key',
    'A member stands there twice, first with another value.',
    text.replace('{', '{"trustRecordHash":"00",'),
  )
  all.addUnusable('text-trailing', 'Text stands after the receipt.', `${text} {}`)
  all.addUnusable('text-truncated', 'The end is missing.', text.slice(0, -1))
  return all.cases
}

/** Adds the promise that the service signs where it has an evidence log. The member is signed like any other, and its form is no check's. */
function promises(all: Cases, content: Members): void {
  const note =
    'It is promised to the log "countersign.example.com/log/1" by 2026-11-21T01:01:00.020Z; no proof of inclusion was given.'
  for (const mode of Object.keys(modes) as Mode[])
    all.addNoted(
      `noted-promised-${mode}`,
      `A receipt that promises its inclusion in a log, ${mode}.`,
      aReceipt(promised(content), modes[mode]),
      [note],
    )
  const receipt = aReceipt(promised(content), modes.ed25519)
  for (const [id, what, path, value] of [
    ['log', 'The log', 'transparency.log', 'other.example.com/log/1'],
    ['by', 'The time', 'transparency.by', time(120_020)],
  ] as const)
    all.add(`promised-changed-${id}`, `${what} of its promise was changed.`, put(receipt, path, value), BOTH)
  all.add('promised-stripped', 'Its promise was taken out.', drop(receipt, 'transparency'), BOTH)
  all.add(
    'promised-added',
    'A promise was added.',
    put(aReceipt(content, modes.ed25519), 'transparency', receipt['transparency'] as Json),
    BOTH,
  )
  for (const [id, what, transparency] of [
    ['text', 'a text', 'countersign.example.com/log/1'],
    ['no-log', 'a time without a log', { by: time(60_020) }],
    ['no-time', 'a log without a time', { log: 'countersign.example.com/log/1' }],
    ['bad-time', 'a log and a time that is none', { log: 'countersign.example.com/log/1', by: 'soon' }],
  ] as const)
    all.addNoted(
      `noted-promised-${id}`,
      `The right key signed a promise that is ${what}: there is nothing to look up.`,
      aReceipt({ ...content, transparency }, modes.ed25519),
      [],
    )
}

/** By batch ML-DSA-65 alone signs receipts, and only in the second place of the list. */
function batched(all: Cases, content: Members): void {
  const [ed25519, mlDsa65] = modes.hybrid
  const signed = receiptMembers(content, modes.hybrid)
  const text = canonical(signed)
  const own = sign('receipt', text, ed25519)
  const others = (size: number) =>
    Array.from({ length: size - 1 }, (_, i) => canonical({ ...content, receiptId: uuid(`neighbour ${i}`) }))
  for (const [name, size, index] of [
    ['two', 2, 0],
    ['five', 5, 4],
  ] as const) {
    const texts = others(size).toSpliced(index, 0, text)
    const second = signTogether('receipt', texts, mlDsa65, `of ${name} receipts`)[index] as Signature
    const receipt = receiptBy(signed, [own, second])
    all.add(
      `valid-batch-of-${name}`,
      `A hybrid receipt whose ML-DSA-65 signature is by a batch of ${name}.`,
      receipt,
    )
    if (size === 2) continue
    all.add(
      'batch-second-stripped',
      'Its ML-DSA-65 signature by batch is stripped.',
      put(receipt, 'signatures', [own]),
      [SIGNATURE],
    )
  }
  const place = aPlace({ size: 5, index: 0 })
  const inFive = receiptBy(signed, [own, signAt('receipt', text, mlDsa65, place)])
  for (const { id, what, evidence } of batchTampering(inFive, 'signatures.1'))
    all.add(`batch-${id}`, what, evidence, [SIGNATURE])

  const asRecord = signAt('trust-record', text, mlDsa65, place)
  all.add(
    'batch-signed-as-trust-record',
    'The right key signed a tree whose leaf is the same bytes as a trust-record.',
    receiptBy(signed, [own, asRecord]),
    [SIGNATURE],
  )
  all.add(
    'batch-null-beside-own',
    'Its own signature, in the list, has `batch: null`.',
    receiptBy(signed, [{ ...own, batch: null }, sign('receipt', text, mlDsa65)]),
    [SIGNATURE],
  )
  all.add(
    'batch-beside-own',
    'A place in a batch stands beside its own signature in the list.',
    receiptBy(signed, [{ ...own, batch: place }, sign('receipt', text, mlDsa65)]),
    [SIGNATURE],
  )
  for (const [id, what, signers] of [
    ['own-by', 'Its own signature is by batch, and nothing says where it stands.', modes.ed25519],
    ['own-ml-dsa-65-by', 'Its own signature is by batch of ML-DSA-65.', modes['ml-dsa-65']],
    ['hybrid-own-by', 'Its own signature is by batch, and the list says where it stands.', modes.hybrid],
    [
      'hybrid-ml-dsa-65-own-by',
      'Its own signature is by batch of ML-DSA-65, which is its first algorithm.',
      [mlDsa65, ed25519],
    ],
  ] as const) {
    const [first] = signers
    const algorithm = `${first.algorithm}-batch`
    const claim = receiptMembers(content, signers, { algorithm })
    const signatures = signers.map((due) => signAt('receipt', canonical(claim), due, place))
    all.add(`batch-${id}`, what, receiptBy(claim, signatures), [SIGNATURE])
    all.add(
      `batch-${id}-with-place`,
      `${what} The place stands beside it.`,
      { ...receiptBy(claim, signatures), batch: place },
      BOTH,
    )
  }
  const turned = receiptMembers(content, [mlDsa65, ed25519])
  all.add(
    'batch-second-by-ed25519',
    'Ed25519 signed its batch in the second place: of receipts only ML-DSA-65 signs by batch.',
    receiptBy(turned, [
      sign('receipt', canonical(turned), mlDsa65),
      signAt('receipt', canonical(turned), ed25519, place),
    ]),
    [SIGNATURE],
  )
}
