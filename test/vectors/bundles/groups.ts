// Bundles under a policy of two bands, each of which counts members of a group alone.
import { anApproval } from '../approvals.ts'
import type { Cases } from '../case.ts'
import { put, type Members } from '../edit.ts'
import { time } from '../evidence.ts'
import { aChange, signed } from '../governance-changes.ts'
import { canonical, humans, publicKeyJson } from '../keys.ts'
import { DOCUMENT, bundle, danasChange, governedBy, withChanges, zoe, zoesChange } from './plan.ts'

const CHANGES = 'governance changes'
const APPROVALS = 'approvals'

const BANDS: Members = {
  ...DOCUMENT,
  signals: { directorApproved: 'boolean', managerApproved: 'boolean' },
  verify: {
    directorApproved: { by: 'approval', quorum: 1, from: ['directors', 'owners'] },
    managerApproved: { by: 'approval', quorum: 1, from: ['managers'] },
  },
}

/** The decision is of `time(11)`. @param resolvedAt when the change took effect */
function setOf(group: string, members: readonly string[], resolvedAt = time(-1000)): Members {
  const change = aChange('APPROVED', humans.aliceStepUp, {
    kind: 'approver-group',
    target: group,
    proposed: { action: 'set', group, members: [...members] },
  })
  return signed({ ...change, resolvedAt })
}

const managers = setOf('managers', ['dana', 'zoe'])
const directors = setOf('directors', ['zoe'])

const stated = (change: Members, group = change['target']!) => ({ group, changeId: change['changeId']! })

const [danas, zoes] = [anApproval(humans.dana), anApproval(zoe)]

interface Told {
  readonly manager?: Members
  readonly director?: Members
  readonly groups?: Readonly<Record<'manager' | 'director', readonly Members[]>>
  readonly changes?: readonly Members[]
  readonly policy?: Members
}

const verified = (approval: Members, of: readonly Members[]) => ({
  value: true,
  by: 'approval',
  approvals: [approval],
  ...(of.length === 0 ? {} : { groups: [...of] }),
  notCounted: [],
})

/** Dana approved as a manager, and Zoe as a director. */
function banded({
  manager = danas,
  director = zoes,
  groups = { manager: [stated(managers)], director: [stated(directors)] },
  changes = [managers, directors],
  policy = BANDS,
}: Told = {}): Members {
  const signers = manager === danas || director === danas ? [zoe, humans.dana] : [zoe]
  const told = {
    policy: canonical(policy),
    verifiedSignals: {
      directorApproved: verified(director, groups.director),
      managerApproved: verified(manager, groups.manager),
    },
  }
  const plan = governedBy([manager, director], told, { approverKeys: signers.map(publicKeyJson) })
  const enrolments = [zoesChange, danasChange].slice(0, signers.length)
  return bundle(withChanges(plan, [policyOf(policy), ...enrolments, ...changes]))
}

const policyOf = (proposed: Members) =>
  aChange('APPROVED', humans.aliceStepUp, { kind: 'policy', target: 'sandbox-echo/1.0.0', proposed })

/** @param resolvedAt when the change took effect */
function standInOf(
  away: string,
  by: string,
  { from = time(-5000), until = time(5000), resolvedAt = time(-1000) } = {},
) {
  const change = aChange('APPROVED', humans.aliceStepUp, {
    kind: 'stand-in',
    target: `${away}/${from}`,
    proposed: { action: 'set', for: away, by, from, until },
  })
  return signed({ ...change, resolvedAt })
}

const inPlace = (change: Members, standIn: Members, away: string): Members => ({
  ...stated(change),
  standsInFor: away,
  standInChangeId: standIn['changeId']!,
})

/** Zoe approved in place of Erik, who is the director. */
function inPlaceOfErik(
  standIn: Members = standInOf('erik', 'zoe'),
  away = 'erik',
  director = setOf('directors', ['erik']),
): Told {
  return {
    groups: { manager: [stated(managers)], director: [inPlace(director, standIn, away)] },
    changes: [managers, director, standIn],
  }
}

function standInBundles(all: Cases): void {
  const edit = (id: string, what: string, told: Told, failing = [CHANGES]) =>
    failing.includes(APPROVALS)
      ? all.add(id, what, banded(told), failing)
      : all.addUnchecked(id, what, banded(told), [APPROVALS], failing)
  all.add('valid-stand-in', 'The director is away, and somebody stands in.', banded(inPlaceOfErik()))
  all.add(
    'valid-stand-in-first-moment',
    'The stand-in began in the very millisecond of the decision.',
    banded(inPlaceOfErik(standInOf('erik', 'zoe', { from: time(11), resolvedAt: time(11) }))),
  )
  edit(
    'stand-in-expired',
    'The time of the stand-in was over at the decision.',
    inPlaceOfErik(standInOf('erik', 'zoe', { until: time(11) })),
  )
  edit(
    'stand-in-not-yet',
    'The time of the stand-in began a millisecond after the decision.',
    inPlaceOfErik(standInOf('erik', 'zoe', { from: time(12) })),
  )
  edit(
    'stand-in-set-later',
    'The stand-in was approved a millisecond after the decision, for a time before it.',
    inPlaceOfErik(standInOf('erik', 'zoe', { resolvedAt: time(12) })),
  )
  edit(
    'stand-in-of-other',
    'The change has somebody else stand in.',
    inPlaceOfErik(standInOf('erik', 'greta')),
  )
  edit(
    'stand-in-for-no-member',
    'Whom the approver stands in for is not in the group.',
    inPlaceOfErik(standInOf('erik', 'zoe'), 'erik', directors),
  )
  const { changes = [], groups } = inPlaceOfErik()
  edit('stand-in-change-missing', 'The change that has the approver stand in is missing.', {
    groups: groups!,
    changes: changes.slice(0, 2),
  })
  const forTreasury = standInOf('treasury', 'zoe')
  edit(
    'stand-in-of-initiator',
    'The approver stands in for the principal in whose name it was asked for.',
    inPlaceOfErik(forTreasury, 'treasury', setOf('directors', ['treasury'])),
    [APPROVALS],
  )
  const [one, other] = [standInOf('erik', 'zoe'), standInOf('erik', 'dana', { from: time(-4000) })]
  const [m, d] = [setOf('managers', ['erik']), setOf('directors', ['erik'])]
  edit(
    'stand-in-overlapping',
    'Two approvers stand in for one member at one time, each for a signal.',
    {
      groups: { manager: [inPlace(m, other, 'erik')], director: [inPlace(d, one, 'erik')] },
      changes: [m, d, one, other],
    },
    [APPROVALS],
  )
}

export function groupBundles(all: Cases): void {
  standInBundles(all)
  all.add('valid-bands', 'A manager and a director approved it, each a member of their group.', banded())
  const [other, ...ofManager] = [setOf('owners', ['zoe']), stated(managers)]
  all.add(
    'valid-group-of-several',
    'The policy asks for one of two groups, and the approver is in the second.',
    banded({
      groups: { manager: ofManager, director: [stated(other)] },
      changes: [managers, other],
    }),
  )
  const sameMoment = setOf('managers', ['dana'], time(11))
  all.add(
    'valid-group-same-moment',
    'The group was set in the very millisecond of the decision.',
    banded({ changes: [sameMoment, directors] }),
  )
  // Without the changes the keys of the approvers are not given.
  const edit = (id: string, what: string, told: Told, failing = [CHANGES]) =>
    failing.includes(APPROVALS)
      ? all.add(id, what, banded(told), failing)
      : all.addUnchecked(id, what, banded(told), [APPROVALS], failing)
  edit('group-set-later', 'The group was set a millisecond after the decision.', {
    changes: [setOf('managers', ['dana'], time(12)), directors],
  })
  edit('group-member-removed', 'The group that counts was set without the approver, who was in it before.', {
    changes: [setOf('managers', ['erik', 'zoe']), directors],
  })
  edit('group-not-asked-for', 'A manager signed for the band of directors.', {
    manager: zoes,
    director: danas,
    groups: { manager: [stated(managers)], director: [stated(managers)] },
    changes: [managers],
  })
  edit('group-of-other', 'The director is not in the group that the decision names for the band.', {
    manager: zoes,
    director: danas,
  })
  edit('group-change-missing', 'The change that set a group is missing.', { changes: [managers] })
  edit('group-other-change', 'The decision names another change than the one that set the group.', {
    groups: { manager: [stated(managers)], director: [stated(managers, 'directors')] },
  })
  const removed = signed({
    ...aChange('APPROVED', humans.aliceStepUp, {
      kind: 'approver-group',
      target: 'directors',
      proposed: { action: 'remove', group: 'directors' },
    }),
    resolvedAt: time(-1000),
  })
  edit('group-removed', 'The change removed the group.', {
    groups: { manager: [stated(managers)], director: [stated(removed)] },
    changes: [managers, removed],
  })
  const pending = aChange('PENDING_APPROVAL', undefined, {
    kind: 'approver-group',
    target: 'directors',
    proposed: { action: 'set', group: 'directors', members: ['zoe'] },
  })
  edit('group-pending', 'Nobody has approved the change of the group.', {
    groups: { manager: [stated(managers)], director: [stated(pending)] },
    changes: [managers, pending],
  })
  edit('group-not-stated', 'The decision does not state the group that the policy asks for.', {
    groups: { manager: [stated(managers)], director: [] },
    changes: [managers],
  })
  edit('group-not-in-policy', 'The decision states a group, and the policy asks for none.', {
    policy: { ...BANDS, verify: { directorApproved: { by: 'approval', quorum: 1 } } },
  })
  edit('group-needless', 'A change set a group by which nothing counts.', {
    changes: [managers, directors, setOf('owners', ['zoe'])],
  })
  edit(
    'group-for-two-signals',
    'One approver, who is in both groups, stands for both signals.',
    {
      manager: anApproval(zoe, { nonce: 'another-nonce-of-zoe', approvalId: 'another approval of zoe' }),
    },
    [APPROVALS],
  )
  edit(
    'group-list-short',
    'The decision states fewer groups than approvals.',
    { groups: { manager: [stated(managers)], director: [stated(directors), stated(directors)] } },
    [APPROVALS, CHANGES],
  )
  edit(
    'group-empty',
    'The name of a group is no text.',
    {
      groups: {
        manager: [stated(managers)],
        director: [put(stated(directors), 'group', 7)],
      },
    },
    [APPROVALS, CHANGES],
  )
}
