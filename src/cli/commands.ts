// What each command is called, takes and says of itself; index.ts says what it runs. Those of the log and `verify` stand in their folders.
import { algorithms } from '../formats/schemas/signature.ts'
import { deliveryOutcomes } from '../formats/schemas/webhook-outcomes.ts'
import {
  argument,
  byDefault,
  command,
  flag,
  mandatory,
  oneOf,
  optional,
  repeated,
  required,
} from './command.ts'
import { apiKey, limit, problemsAsJson, serviceUrl } from './options.ts'

export const serve = command('serve', { about: 'start the service; its configuration is the environment' })

export const migrate = command('migrate', {
  about: 'bring the database of DATABASE_URL to the newest schema',
})

export const fsck = command('fsck', {
  about:
    'verify everything that is stored, beside running services; exits 0 clean, 1 something is wrong, 2 could not check',
  options: { json: problemsAsJson },
})

const keyDir = optional('<folder>', 'folder of the keys (default: SIGNING_KEY_DIR, else $DATA_DIR/keys)')
const ONLY_LOG = "only the log's keys, in the folder `log` within"

export const keys = {
  generate: command('generate', {
    about: 'make the signing keys and the keys of the evidence log: one of each algorithm that has none',
    options: {
      dir: keyDir,
      log: flag(ONLY_LOG),
      witness: flag(
        'only the keys by which this service witnesses other logs, in the folder `witness` within',
      ),
    },
  }),
  rotate: command('rotate', {
    about: 'add new keys, which sign from the next start; the old ones stay published',
    options: {
      dir: keyDir,
      algorithm: oneOf(algorithms, '<name>', 'only this one of the signing keys'),
      log: flag(ONLY_LOG, (option) => option.conflicts('algorithm')),
    },
  }),
  revoke: command('revoke', {
    about: 'say since when a signing key counts no more, because somebody else may have it',
    args: { keyId: argument('<keyId>', 'as `keys list` names it') },
    options: {
      dir: keyDir,
      at: optional('<time>', 'since when, such as 2026-11-21T01:00:00Z (default: now)'),
    },
  }),
  list: command('list', {
    about:
      'name the keys and say which of them sign and which are revoked; those of the log are named `log/<key id>`',
    options: { dir: keyDir },
  }),
}

const asCaller = { url: serviceUrl, key: mandatory(apiKey('your API key')) }
const reason = required('<text>', 'for the human who approves it')

export const callers = {
  issue: command('issue', {
    about:
      'make a raw key, shown this once, and its entry for SERVICE_API_KEYS or `callers propose`; nothing is stored',
    args: { callerId: argument('<callerId>') },
    options: {
      capability: repeated(
        '<action>',
        "an action it may invoke, '*' for all; repeatable (default: none, it may invoke nothing)",
      ),
      principal: repeated(
        '<id>',
        'a principal it may assert, by its name; repeatable (default: its callerId)',
      ),
      holderType: optional('<type>', 'USER (a human), ROLE, SERVICE or ORGANIZATION (default: SERVICE)'),
      approver: optional('<approverId>', 'for a USER: the approver that this human is'),
      readAll: flag('may read what others submitted'),
      stepUpPublicKey: optional('<file>', 'PEM Ed25519 public key of a human who approves changes'),
      expiresAt: optional('<time>', 'RFC 3339; the key is unknown from then on (default: never)'),
    },
  }),
  list: command('list', {
    about: 'keys of callers that are in effect on a running service; for humans and auditors',
    options: { ...asCaller, all: flag('revoked and expired ones too') },
  }),
  propose: command('propose', {
    about: 'propose to issue a key without a restart, by the entry that `callers issue` printed; for a human',
    args: {
      file: argument(
        '<file>',
        "with the entry as its last line; '-' reads stdin. A raw key in it is not sent",
      ),
    },
    options: { ...asCaller, reason },
  }),
  revoke: command('revoke', {
    about: 'propose to revoke a key, of governance or of SERVICE_API_KEYS; for a human',
    args: {
      callerId: argument('<callerId>'),
      keyId: argument(
        '<keyId>',
        'as `callers list` shows it: the first 16 characters of the SHA-256 of the raw key',
      ),
    },
    options: { ...asCaller, reason },
  }),
}

export const intents = {
  list: command('list', {
    about: 'print those in doubt: id, since when, caller, action, target',
    options: { limit },
  }),
  show: command('show', {
    about: 'print what happened to one: its release, what providers said of it, how it was closed',
    args: { id: argument('<id>', 'its businessTransactionId') },
  }),
}

const listedEventId = "the provider's id, as listed"

export const webhooks = {
  list: command('list', {
    about:
      'print recent deliveries, newest first: outcome, time, provider, event id, rule, transaction, reason',
    options: {
      provider: optional('<name>', 'of this one alone'),
      outcome: oneOf(deliveryOutcomes, '<outcome>', 'those that ended so'),
      status: oneOf(
        ['waiting', 'pending', 'failed', 'dead'],
        '<status>',
        'those that wait to be processed instead, oldest first: status, age, failures, provider, event id, reason',
        (option) => option.conflicts(['outcome', 'provider', 'cursor']),
      ),
      cursor: optional('<text>', 'older ones: what the list before ended with'),
      limit,
    },
  }),
  show: command('show', {
    about: 'print one with its headers and its body, as JSON',
    args: { provider: argument('<provider>'), eventId: argument('<eventId>', listedEventId) },
  }),
  retry: command('retry', {
    about: 'process a dead or a processed one again, or all dead ones',
    args: { provider: argument('[provider]'), eventId: argument('[eventId]', listedEventId) },
    options: { all: flag('every dead one') },
  }),
  check: command('check', {
    about: 'compile the rules of a provider, and run the cases beside them; exits 1 where one does not hold',
    args: { file: argument('<file>', '<provider>.yaml; its cases are <provider>.cases.yaml') },
  }),
}

const stepUpKey = required('<file>', 'private half of your step-up key, PEM')
const stepUpKeyId = byDefault<string>('step-up', optional('<id>', 'a name for the key; informative'))
const act = <const T extends string>(choices: readonly T[]) =>
  mandatory<T>(oneOf(choices, '<action>', 'what you do'))

/** The address and the keys that a profile may have instead. */
const asApprover = {
  profile: optional('<file>', 'address and keys, such as mine/humans/dana.json'),
  url: optional('<address>', 'base address of the service; http://127.0.0.1:3000 by default', (option) =>
    option.env('COUNTERSIGN_URL'),
  ),
  apiKey: apiKey('your API key'),
}
const listedRequestId = 'its requestId, as listed'
const privateKey = optional('<file>', 'private key, PEM')
const approverId = optional('<id>', 'approverId that the key is enrolled for')
const enrolledKeyId = optional('<id>', 'keyId that the key is enrolled as')

export const approver = {
  keygen: command('keygen', {
    about: 'make an Ed25519 key pair; prints the public key',
    options: {
      dir: required('<folder>', 'folder of the two files; made if it is not there'),
      name: byDefault<string>('approver', optional('<name>', 'of the files')),
    },
  }),
  signApproval: command('sign-approval', {
    about: 'sign an approval of one action; prints it, for POST /approvals',
    options: {
      key: mandatory<string>(privateKey),
      approver: mandatory<string>(approverId),
      keyId: mandatory<string>(enrolledKeyId),
      capability: required('<action>', 'intent.action'),
      target: required('<target>', 'intent.target'),
      parameters: optional('<file>', "exactly these: intent.parameters as a JSON file; '-' reads stdin"),
      limit: repeated('<path=max>', 'any where this number is at most max, such as amount=500; repeatable'),
      expiresIn: byDefault<string>('15m', optional('<time>', 'such as 90s, 15m, 2h or 1d')),
    },
  }),
  signStepUp: command('sign-step-up', {
    about: 'sign the approval or rejection of a change; prints the body to POST, which holds for two minutes',
    options: {
      key: stepUpKey,
      change: required('<file>', "the change as the service answered it, JSON; '-' reads stdin"),
      action: act(['approve', 'reject']),
      keyId: stepUpKeyId,
      reason: optional('<text>', 'of a rejection'),
      impact: optional('<file>', 'the report of `simulate --report`, which your signature then covers too'),
    },
  }),
  signEndpoint: command('sign-endpoint', {
    about:
      'sign that an event endpoint skips events, or gets a further secret; prints the body to POST, which holds for two minutes',
    options: {
      key: stepUpKey,
      endpoint: required('<id>', 'its endpointId'),
      action: act(['redeliver', 'secret']),
      after: optional('<cursor>', 'of redeliver: the place in the feed, or now'),
      keyId: stepUpKeyId,
    },
  }),
  requests: command('requests', {
    about:
      'print the approval requests that wait for you, what ends first on top: until when, id, action code, who asks, action, target, approvals missing, note',
    options: {
      ...asApprover,
      all: flag('every open one, also those that you cannot sign or have signed'),
    },
  }),
  signRequest: command('sign-request', {
    about: 'show what an approval request asks for, ask y/N, then sign and deliver the approval',
    args: {
      id: argument(
        '[id]',
        `${listedRequestId}; left out, the one of those that wait for you which ends first, or the next to come`,
      ),
    },
    options: { ...asApprover, key: privateKey, approver: approverId, keyId: enrolledKeyId },
  }),
  declineRequest: command('decline-request', {
    about: 'say no to an approval request, for good: approvals that were given for it count no more',
    args: { id: argument('<id>', listedRequestId) },
    options: { ...asApprover, reason: required('<text>', 'for whoever asks') },
  }),
}

export const setup = {
  humans: command('humans', {
    about:
      'for a trial, while no service runs here: two humans who govern, an approver and an agent, enrolled and ready for a first payment',
    options: {
      dir: byDefault<string>(
        'mine/humans',
        optional('<folder>', 'takes all their keys; made, and not there yet'),
      ),
      connector: byDefault<string>('http://127.0.0.1:8080/', optional('<url>', 'where payments go')),
      tools: byDefault<string>(
        'http://127.0.0.1:8081/',
        optional('<url>', "where calls of a language model's tools go"),
      ),
      ownDatabase: flag('also on the database of DATABASE_URL'),
    },
    after:
      '\nHOST, PORT and DATA_DIR of the environment say where the service will be, as they do at its start; the profiles name that address.',
  }),
}

export const policy = {
  check: command('check', {
    about: 'name every mistake in policies by file, line, column and rule; exits 1 where there is one',
    args: {
      path: argument('<path>', 'a policy.yaml, the folder of a version or of a policy, or a POLICY_DIR'),
    },
  }),
  test: command('test', {
    about:
      'run the cases.yaml beside each policy; exits 1 where a case does not hold or a rule decides no case',
    args: { path: argument('<path>', 'as for check') },
  }),
  explain: command('explain', {
    about: 'say in words how a policy decides a transaction, signal by signal and rule by rule',
    args: {
      file: argument('<policy.yaml>'),
      transaction: argument(
        '<transaction.json>',
        'the body of POST /execute, or of it what the policy reads',
      ),
    },
    options: { at: optional('<time>', 'RFC 3339; when it is decided (default: now)') },
  }),
}

export const simulate = command('simulate', {
  about:
    'say which past decisions of a running service a policy file or a change would flip, or the end of versions would have refused; changes nothing',
  args: {
    file: argument(
      '[policy.yaml]',
      'left out: only versions of --policy end, or --change says what is simulated',
    ),
  },
  options: {
    url: serviceUrl,
    key: mandatory<string>(apiKey('API key; a human or --read-all key sees the decisions of all callers')),
    since: optional('<time>', 'RFC 3339; nothing older (default: the oldest)'),
    until: optional('<time>', 'RFC 3339; only what is older (default: now)'),
    policy: optional('<name>', 'in the place of the file: the policy whose versions end'),
    retires: optional('<versions...>', 'versions that end; says which executions would have been refused'),
    change: optional(
      '<file>',
      "in the place of all three: the change of a policy as the service answered it, JSON; '-' reads stdin",
      (option) => option.conflicts(['policy', 'retires']),
    ),
    report: optional('<file>', 'write the impact report of the change, for `approver sign-step-up --impact`'),
  },
})

export const bench = command('bench', {
  about: 'load-test a deployment (--url, --key) or a fresh local service; --help says more',
  args: { args: argument('[arguments...]', 'scenarios and options of the bench') },
})
