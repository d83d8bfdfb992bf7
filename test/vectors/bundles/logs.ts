// Bundles from logs that are others, were forked or rewritten, or hold things in another order.
import type { Cases } from '../case.ts'

import { sha256 } from '../keys.ts'
import { describedLog, signersOf, type NoteSigner, type SignedBy } from '../logs.ts'
import {
  CHECKPOINT,
  FIRST,
  LOG,
  ORDER,
  PROOFS,
  type Part,
  SECOND,
  bundle,
  governed,
  plain,
  proven,
} from './plan.ts'
import { rotated } from './trusted.ts'

/** Changes the signature of a line. */
const spoil = (i: number) => (lines: string[]) =>
  lines.map((line, j) => (i === j ? line.replace(/.{8}\n$/, (end) => `AAAA${end.slice(4)}`) : line))

/** Adds logs that are others, were forked or rewritten, or hold things in another order. */
export function wrongLogs(all: Cases): void {
  const plan = plain()
  const by = (signedBy: SignedBy, origin = FIRST) => bundle(plan, proven(plan.parts, origin, signedBy))
  const [ed25519, mlDsa44] = signersOf(FIRST) as [NoteSigner, NoteSigner]
  all.add(
    'checkpoint-ed25519',
    'The Ed25519 signature of the checkpoint was changed.',
    by({ lines: spoil(0) }),
    [CHECKPOINT],
  )
  all.add(
    'checkpoint-ml-dsa-44',
    'The ML-DSA-44 signature of the checkpoint was changed.',
    by({ lines: spoil(1) }),
    [CHECKPOINT],
  )
  all.add(
    'checkpoint-no-ed25519',
    'The Ed25519 signature of the checkpoint was left out.',
    by({ signers: [mlDsa44] }),
    [CHECKPOINT],
  )
  all.add(
    'checkpoint-no-ml-dsa-44',
    'The ML-DSA-44 signature of the checkpoint was left out.',
    by({ signers: [ed25519] }),
    [CHECKPOINT],
  )
  all.add(
    'checkpoint-unsigned',
    'A key of another name signed the checkpoint, and none of its log.',
    by({ signers: signersOf(SECOND) }),
    [CHECKPOINT],
  )
  const claimed = { signers: [rotated('ed25519'), rotated('ml-dsa-44-cosignature')] }
  all.addUnchecked(
    'checkpoint-unknown-keys',
    'Keys that are not given signed the checkpoint.',
    by(claimed),
    LOG,
  )
  all.add(
    'checkpoint-other-root',
    'The log signed another root.',
    by({ root: Buffer.from(sha256('root'), 'hex') }),
    [PROOFS, ORDER],
  )
  const other = 'other.example.com/log/1'
  all.addUnchecked(
    'other-origin',
    'The proofs are of another log than the receipt was promised to.',
    by({}, other),
    [CHECKPOINT, ORDER],
    [PROOFS],
  )
  const both = JSON.stringify({ logs: [describedLog(FIRST), describedLog(other)] })
  all.addBy(
    both,
    'other-origin-given',
    'The proofs are of another log than the receipt was promised to, and the reader trusts it.',
    by({}, other),
    { failing: [PROOFS] },
  )
  const promisedLater = plain({ log: SECOND })
  all.add(
    'earlier-origin',
    'The receipt was promised to the successor of the log that has it.',
    bundle(promisedLater),
    [PROOFS],
  )
  const [authorization, receipt] = plan.parts as [Part, Part]
  all.add(
    'two-checkpoints',
    'The proofs are under two checkpoints of the log.',
    bundle(plan, [...proven(plan.parts).slice(0, 1), ...proven([...plan.parts, authorization]).slice(1, 2)]),
    [CHECKPOINT],
  )
  const ofTwo = (first: string, second: string) =>
    bundle(plan, [...proven([authorization], first), ...proven([receipt], second)])
  all.addBy(
    both,
    'two-names',
    'The proofs are of two logs that have nothing to do with each other.',
    ofTwo(other, FIRST),
    { failing: [CHECKPOINT, ORDER] },
  )
  all.add(
    'two-logs-wrong-order',
    'The receipt is in the log before that of its authorization.',
    ofTwo(SECOND, FIRST),
    [ORDER],
  )
  wrongOrder(all)
}

function wrongOrder(all: Cases): void {
  const { parts, ...rest } = governed()
  const [policy, zoes, danas, first, second, authorization, receipt] = parts as [
    Part,
    Part,
    Part,
    Part,
    Part,
    Part,
    Part,
  ]
  const rows: [id: string, what: string, parts: Part[]][] = [
    [
      'policy',
      'The policy was put into force after the authorization.',
      [zoes, danas, first, second, authorization, policy, receipt],
    ],
    [
      'enrolment',
      "The approver's key was enrolled after the approval.",
      [policy, danas, first, zoes, second, authorization, receipt],
    ],
    [
      'approval',
      'An approval was given after the authorization.',
      [policy, zoes, danas, second, authorization, first, receipt],
    ],
    [
      'receipt',
      'The receipt was issued before the authorization.',
      [policy, zoes, danas, first, second, receipt, authorization],
    ],
  ]
  for (const [id, what, these] of rows)
    all.add(`order-${id}`, what, bundle({ ...rest, parts: these }), [ORDER])
}
