// Forged signatures of records and of the authorizations in them, in one algorithm and in both.
import { forgeries, spoiled, type Cases } from '../case.ts'
import { at, membersAt, put, type Members } from '../edit.ts'
import { aRecord, aRecordBody, receipted, seal } from '../evidence.ts'
import { hybridTampering } from '../hybrid.ts'
import { canonical, keys, modes, publicKeyJson, sha256, sign, unpublished } from '../keys.ts'

const SIGNATURE = ['record signature']

export function forgedRecords(all: Cases): void {
  const story = { name: 'signed' }
  const body = aRecordBody(story, modes.ed25519)
  const forged = (signers: (typeof modes)[keyof typeof modes], forgery: Parameters<typeof seal>[2]) =>
    receipted(seal(aRecordBody(story, signers), signers, forgery), signers)
  for (const [id, what, forgery] of forgeries('trust-record'))
    all.addForged(`signature-${id}`, what, forged(modes.ed25519, forgery), SIGNATURE, forgery)
  for (const [id, what, forgery] of spoiled)
    all.add(
      `ml-dsa-65-${id}`,
      `${what} It is an ML-DSA-65 one.`,
      forged(modes['ml-dsa-65'], forgery),
      SIGNATURE,
    )
  all.add(
    'ml-dsa-65-unknown-key',
    'An ML-DSA-65 key that is not published signed.',
    forged(modes['ml-dsa-65'], { key: unpublished.mlDsa65 }),
    SIGNATURE,
  )
  all.add(
    'ml-dsa-65-as-ed25519',
    'An ML-DSA-65 signature is claimed to be an Ed25519 one.',
    forged(modes['ml-dsa-65'], { algorithm: 'ed25519' }),
    SIGNATURE,
  )
  all.add(
    'ml-dsa-65-signed-as-receipt',
    'The right ML-DSA-65 key signed the same bytes as a receipt.',
    forged(modes['ml-dsa-65'], { artifact: 'receipt' }),
    SIGNATURE,
  )
  const unknown = { key: unpublished.ed25519, keyId: unpublished.ed25519.keyId }
  const jwk = at(publicKeyJson(unpublished.ed25519), 'jwk')
  for (const member of ['jwk', 'publicKey', 'pem'])
    all.addUnchecked(
      `embedded-${member}`,
      `A key that is not published signed, and the evidence brings it along as signature.${member}.`,
      put(
        forged(modes.ed25519, unknown),
        `signature.${member}`,
        member === 'jwk' ? jwk : at(publicKeyJson(unpublished.ed25519), 'pem'),
      ),
      [...SIGNATURE, 'members'],
    )
  all.addUnchecked(
    'embedded-keys',
    'A key that is not published signed, and the evidence brings a key set along.',
    { ...forged(modes.ed25519, unknown), keys: [publicKeyJson(unpublished.ed25519)] },
    [...SIGNATURE, 'members'],
  )

  for (const [id, what, forgery] of forgeries('execution-authorization')) {
    const authorized = aRecordBody(story, modes.ed25519, { authorization: forgery })
    all.addForged(
      `authorization-${id}`,
      `Of the authorization: ${what}`,
      receipted(seal(authorized, modes.ed25519), modes.ed25519),
      ['authorization signature'],
      forgery,
    )
  }
  const { value } = sign(
    'execution-authorization',
    canonical(at(body, 'authorization.payload')),
    keys.mlDsa65,
  )
  const byMlDsa65 = {
    ...membersAt(body, 'authorization'),
    algorithm: 'ml-dsa-65',
    keyId: keys.mlDsa65.keyId,
    signature: value,
  }
  all.add(
    'authorization-by-ml-dsa-65',
    'The authorization is rightly signed by ML-DSA-65, and authorizations are always Ed25519.',
    receipted(seal({ ...body, authorization: byMlDsa65 }, modes.ed25519), modes.ed25519),
    ['authorization signature'],
  )
  hybrids(all, body)
}

function hybrids(all: Cases, single: Members): void {
  const hybrid = aRecord({ name: 'signed' }, modes.hybrid)
  for (const { id, what, evidence, kind } of hybridTampering(hybrid, 'signature.value'))
    all.add(id, what, evidence, kind === 'signed members' ? ['canonical hash', ...SIGNATURE] : SIGNATURE)
  const record = aRecord({ name: 'signed' }, modes.ed25519)
  all.add(
    'signatures-added',
    'A list of signatures was added to a record that requires one.',
    { ...record, signatures: at(hybrid, 'signatures') },
    SIGNATURE,
  )
  all.add(
    'required-algorithms-added',
    'requiredAlgorithms was added to a record of one algorithm.',
    { ...record, requiredAlgorithms: ['ed25519'] },
    ['canonical hash', ...SIGNATURE],
  )
  for (const required of [[], ['ed25519'], ['ed25519', 'ed25519'], ['ed25519', 'rsa']]) {
    const claim = { ...single, requiredAlgorithms: required }
    const one = sign('trust-record', canonical(claim), keys.ed25519)
    const claimed = {
      ...claim,
      trustRecordHash: sha256(canonical(claim)),
      signature: one,
      signatures: required.map(() => one),
    }
    all.add(
      `hybrid-signed-requires-${required.join('+') || 'none'}`,
      `The right key signed that [${required.join(', ')}] is required.`,
      receipted(claimed, modes.ed25519),
      SIGNATURE,
    )
  }
}
