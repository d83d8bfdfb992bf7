// Names, arguments and options of the commands by which humans propose changes and resolve them.
import { changeKinds, changeStatuses } from '../../formats/schemas/governance.ts'
import { argument, argumentOf, command, flag, oneOf, optional, repeated, required } from '../command.ts'
import { asPerson, stepUpKeyId } from '../options.ts'

const id = argument('<id>', 'its changeId, as listed')
const reason = required('<text>', 'reason, shown to the human who approves it')
const asChecker = {
  ...asPerson,
  key: optional('<file>', 'your private step-up key, PEM'),
  keyId: stepUpKeyId,
}

export const list = command('list', {
  about: 'print the changes that wait for a second human, newest first: time, id, change, proposer, reason',
  options: {
    ...asPerson,
    kind: oneOf(changeKinds, '<kind>', 'only changes of this kind'),
    status: oneOf(changeStatuses, '<status>', 'instead: changes with this status', (option) =>
      option.conflicts('all'),
    ),
    all: flag('changes of every status'),
  },
})

export const show = command('show', {
  about:
    'show a change: who proposed it and why, what differs, the warnings, what an approval puts in effect',
  args: { id },
  options: { ...asPerson, json: flag('print the change as the service answers it, for `verify`') },
})

export const approve = command('approve', {
  about:
    'show a change and, of a policy, the past decisions that it would flip; ask y/N, then sign and deliver the approval',
  args: { id },
  options: {
    ...asChecker,
    since: optional(
      '<time>',
      'RFC 3339; simulate the decisions of a policy from then on (default: 30 days ago)',
    ),
    all: flag('list every past decision that differs, not only the newest ten'),
    withoutImpact: flag('simulate nothing: your signature covers the change alone'),
  },
})

export const reject = command('reject', {
  about: 'show a change, ask y/N, then sign and deliver the rejection',
  args: { id },
  options: { ...asChecker, reason: required('<text>', 'reason, shown to the human who proposed it') },
})

export const propose = command('propose', {
  about: 'propose a change of any kind but a policy, from the JSON body that the API takes; for a human',
  args: {
    kind: argumentOf(
      changeKinds.filter((kind) => kind !== 'policy'),
      '<kind>',
      'kind of the change; `policy propose` proposes a policy',
    ),
    file: argument('<file>', "action, members and reason of the change, JSON; '-' reads stdin"),
  },
  options: asPerson,
})

export const proposePolicy = command('propose', {
  about: 'propose a policy version to a running service, from its file; for a human',
  args: { file: argument('<policy.yaml>') },
  options: {
    ...asPerson,
    retires: repeated(
      '<version>',
      'version of the same policy that ends when this one is approved; repeatable',
    ),
    reason,
  },
})

export const retirePolicy = command('retire', {
  about: 'propose to a running service that a policy version ends without a successor; for a human',
  args: { policyId: argument('<policyId>'), version: argument('<policyVersion>') },
  options: { ...asPerson, reason },
})
