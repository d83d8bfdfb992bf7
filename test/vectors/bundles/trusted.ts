// Bundles verified by other descriptions of logs, by policies with witnesses, or by none.
import type { Cases } from '../case.ts'
import { put, type Json, type Members } from '../edit.ts'

import { describedLog, noteSigner, signersOf, type NoteSigner } from '../logs.ts'
import {
  CHECKPOINT,
  FIRST,
  LOADED,
  LOG,
  ORDER,
  PROOFS,
  SECOND,
  bundle,
  plain,
  proven,
  spoiledLine,
} from './plan.ts'

export const text = (value: Json) => JSON.stringify(value)
export const rotated = (type: 'ed25519' | 'ml-dsa-44-cosignature') =>
  noteSigner(FIRST, type, `${FIRST} rotated`)

/** The text of a C2SP tlog-policy. */
const policyText = (...lines: string[]) => `# logs that this reader trusts\n${lines.join('\n')}\n`

/** Adds cases of what the reader trusts: other descriptions, policies with witnesses, or nothing. */
export function withOtherTrust(all: Cases): void {
  const good = bundle(plain())
  const [ed25519, mlDsa44] = signersOf(FIRST) as [NoteSigner, NoteSigner]
  const by = (...vkeys: string[]) => text({ logs: [describedLog(FIRST, vkeys)] })
  const open = { unchecked: LOG }
  all.addBy(null, 'no-log', 'No description of a log is given.', good, open)
  all.addBy(
    null,
    'no-log-wrong-path',
    'No description is given, and a path is wrong whatever it says.',
    wrongPath(),
    {
      failing: [PROOFS, ORDER],
      unchecked: [CHECKPOINT],
    },
  )
  all.addBy(
    text({ logs: [describedLog(SECOND)] }),
    'other-log',
    'The description is of another log.',
    good,
    open,
  )
  all.addBy(
    by(rotated('ed25519').vkey),
    'other-key',
    'The description lists another key of the log only.',
    good,
    open,
  )
  all.addBy(by(ed25519.vkey), 'valid-ed25519-only', 'The description lists the Ed25519 key only.', good)
  all.addBy(by(mlDsa44.vkey), 'valid-ml-dsa-44-only', 'The description lists the ML-DSA-44 key only.', good)
  all.addBy(
    by(rotated('ed25519').vkey, ed25519.vkey, rotated('ml-dsa-44-cosignature').vkey, mlDsa44.vkey),
    'valid-rotated',
    'The description lists keys that were rotated out, too.',
    good,
  )
  const rotatedOne = [ed25519, rotated('ml-dsa-44-cosignature')]
  all.addUnchecked(
    'rotated-unknown',
    'The ML-DSA-44 key is newer than the description.',
    bundle(plain(), proven(plain().parts, FIRST, { signers: rotatedOne })),
    LOG,
  )
  all.addBy(
    by(ed25519.vkey, mlDsa44.vkey, `${FIRST}+00000000+${Buffer.from([0x7f, 1, 2, 3]).toString('base64')}`),
    'valid-unknown-type',
    'The description lists a key of a type that nobody knows yet.',
    good,
  )
  all.addBy(
    policyText(`log ${ed25519.vkey}`, 'quorum none'),
    'valid-policy',
    'A policy trusts one key of the log.',
    good,
  )
  all.addBy(
    policyText(`log ${signersOf(SECOND)[0]!.vkey}`, 'quorum none'),
    'policy-other-log',
    'A policy trusts another log.',
    good,
    open,
  )
  const witnesses = (['ed25519-cosignature', 'ml-dsa-44-cosignature'] as const).map((type, i) =>
    noteSigner(`witness${i}.example`, type),
  )
  const asking = policyText(
    `log ${ed25519.vkey}`,
    ...witnesses.map(({ vkey }, i) => `witness w${i} ${vkey}`),
    'group both all w0 w1',
    'quorum both',
  )
  const cosigned = (...some: NoteSigner[]) =>
    bundle(plain(), proven(plain().parts, FIRST, { signers: [ed25519, mlDsa44, ...some] }))
  all.addBy(
    asking,
    'valid-witnesses',
    'A policy asks for two witnesses, and both cosigned.',
    cosigned(...witnesses),
    {
      notes: [
        LOADED,
        `The log "${FIRST}" had 5 entries at its checkpoint, cosigned by the witnesses "w0", "w1".`,
      ],
    },
  )
  all.addBy(
    asking,
    'witness-missing',
    'A policy asks for two witnesses, and one cosigned.',
    cosigned(witnesses[0]!),
    {
      failing: [CHECKPOINT],
    },
  )
  for (const [id, what, log] of [
    ['empty', 'The description is an empty object.', '{}'],
    ['no-logs', 'The description lists no log.', '{"logs":[]}'],
    ['no-vkeys', 'A log of the description has no keys.', text({ logs: [{ origin: FIRST }] })],
    ['key-name', 'A key of the description is named after another log.', by(signersOf(SECOND)[0]!.vkey)],
    [
      'key-changed',
      'A key of the description is not the one of its id.',
      by(ed25519.vkey.replace(/.$/, 'A')),
    ],
    ['key-number', 'A key of the description is a number.', text({ logs: [{ origin: FIRST, vkeys: [7] }] })],
    [
      'witness-key',
      'A key of the description is one for cosignatures.',
      by(noteSigner(FIRST, 'ed25519-cosignature').vkey),
    ],
    ['not-json', 'The description begins as JSON and is none.', '{'],
    ['text', 'The description is neither JSON nor a policy.', 'logs'],
    ['policy-no-quorum', 'The policy has no quorum.', policyText(`log ${ed25519.vkey}`)],
  ] as const)
    all.addBy(log, `unusable-log-${id}`, what, good, { unusable: true })
}

function wrongPath(): Members {
  const good = bundle(plain())
  const [first = {}, second = {}] = good['proofs'] as Members[]
  return { ...good, proofs: [first, put(second, 'proof', spoiledLine(second['proof'] as string, 3))] }
}
