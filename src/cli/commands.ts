// Name, arguments, options and help text of each command; index.ts has its module. `log` and `verify` declare theirs in their own folders.
import { algorithms } from '../formats/schemas/signature.ts'
import { deliveryOutcomes } from '../formats/schemas/webhook-outcomes.ts'
import {
  argument,
  argumentOf,
  byDefault,
  command,
  flag,
  mandatory,
  oneOf,
  optional,
  repeated,
  required,
} from './command.ts'
import { apiKey, asPerson, limit, port, problemsAsJson, serviceUrl, stepUpKeyId } from './options.ts'

export const serve = command('serve', { about: 'start the service; its configuration is the environment' })

export const migrate = command('migrate', {
  about: 'bring the database of DATABASE_URL to the newest schema',
})

export const fsck = command('fsck', {
  about:
    'verify everything in the database while services run; exits 0 clean, 1 something is wrong, 2 could not check',
  options: { json: problemsAsJson },
})

const keyDir = optional('<folder>', 'key folder (default: SIGNING_KEY_DIR, else $DATA_DIR/keys)')
const ONLY_LOG = 'only the keys of the log, in its subfolder `log`'

export const keys = {
  generate: command('generate', {
    about: 'make the missing signing keys and keys of the evidence log, one for each algorithm',
    options: {
      dir: keyDir,
      log: flag(ONLY_LOG),
      witness: flag('only the keys that cosign other logs as a witness, in the subfolder `witness`'),
    },
  }),
  rotate: command('rotate', {
    about: 'add new keys that sign from the next start; the old keys stay published',
    options: {
      dir: keyDir,
      algorithm: oneOf(algorithms, '<name>', 'rotate only the signing key of this algorithm'),
      log: flag(ONLY_LOG, (option) => option.conflicts('algorithm')),
    },
  }),
  revoke: command('revoke', {
    about: 'revoke a signing key that somebody else may have; signatures made from then on do not count',
    args: { keyId: argument('<keyId>', 'as `keys list` names it') },
    options: {
      dir: keyDir,
      at: optional('<time>', 'time of the revocation, such as 2026-11-21T01:00:00Z (default: now)'),
    },
  }),
  list: command('list', {
    about: 'list the keys, the keys of the log as `log/<key id>`, and show which sign and which are revoked',
    options: { dir: keyDir },
  }),
}

const asCaller = { url: serviceUrl, key: mandatory(apiKey('your API key')) }
const reason = required('<text>', 'reason, shown to the human who approves it')

export const callers = {
  issue: command('issue', {
    about:
      'make a raw key, which is shown only once, and its entry for SERVICE_API_KEYS or `callers propose`; stores nothing',
    args: { callerId: argument('<callerId>') },
    options: {
      capability: repeated(
        '<action>',
        "action that the caller may invoke, '*' for all; repeatable (default: none)",
      ),
      principal: repeated(
        '<id>',
        'principalId that the caller may assert; repeatable (default: its callerId)',
      ),
      holderType: optional('<type>', 'USER (a human), ROLE, SERVICE or ORGANIZATION (default: SERVICE)'),
      approver: optional('<approverId>', "for a USER: this human's approverId"),
      readAll: flag('the caller may read the executions of all callers'),
      stepUpPublicKey: optional(
        '<file>',
        'PEM Ed25519 public key; a human signs approvals of changes with its private half',
      ),
      expiresAt: optional('<time>', 'RFC 3339; the key is refused from then on (default: never)'),
    },
  }),
  list: command('list', {
    about: 'list the caller keys in effect on a running service; for humans and auditors',
    options: { ...asCaller, all: flag('list revoked and expired keys too') },
  }),
  propose: command('propose', {
    about: 'propose a key to a running service, from the entry that `callers issue` printed; for a human',
    args: {
      file: argument(
        '<file>',
        "file whose last line is the entry; '-' reads stdin. A raw key in it is not sent",
      ),
    },
    options: { ...asCaller, reason },
  }),
  revoke: command('revoke', {
    about: 'propose to revoke a key that governance or SERVICE_API_KEYS issued; for a human',
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
    about: 'print executions in doubt: id, in doubt since, caller, action, target',
    options: { limit },
  }),
  show: command('show', {
    about:
      'print the history of one execution: its release, the confirmations of providers, how it was closed',
    args: { id: argument('<id>', 'its businessTransactionId') },
  }),
  resolve: command('resolve', {
    about: 'show an execution in doubt, ask y/N, then sign and deliver how it ended; for a human',
    args: {
      id: argument('<id>', 'its businessTransactionId'),
      outcome: argumentOf(['executed', 'not-executed'], '<outcome>', 'how it ended'),
    },
    options: {
      ...asPerson,
      note: required('<text>', 'what you found, and where you looked'),
      key: optional('<file>', 'your private step-up key, PEM'),
      keyId: stepUpKeyId,
      json: flag('also print the execution as the service answers it, in JSON'),
    },
  }),
}

const listedEventId = "the provider's id, as listed"

export const webhooks = {
  list: command('list', {
    about:
      'print recent deliveries, newest first: outcome, time, provider, event id, rule, transaction, reason',
    options: {
      provider: optional('<name>', 'only deliveries of this provider'),
      outcome: oneOf(deliveryOutcomes, '<outcome>', 'only deliveries with this outcome'),
      status: oneOf(
        ['waiting', 'pending', 'failed', 'dead'],
        '<status>',
        'instead: deliveries that are not processed yet, oldest first: status, age, failures, provider, event id, reason',
        (option) => option.conflicts(['outcome', 'provider', 'cursor']),
      ),
      cursor: optional('<text>', 'continue a list: the cursor that the previous page ended with'),
      limit,
    },
  }),
  show: command('show', {
    about: 'print one delivery with its headers and its body, as JSON',
    args: { provider: argument('<provider>'), eventId: argument('<eventId>', listedEventId) },
  }),
  retry: command('retry', {
    about: 'process one delivery again, or all dead deliveries',
    args: { provider: argument('[provider]'), eventId: argument('[eventId]', listedEventId) },
    options: { all: flag('process every dead delivery again') },
  }),
  check: command('check', {
    about: 'compile the rules of a provider and run their test cases; exits 1 if a case fails',
    args: {
      file: argument(
        '<file>',
        '<provider>.yaml; the cases are read from <provider>.cases.yaml in the same folder',
      ),
    },
  }),
}

const stepUpKey = required('<file>', 'your private step-up key, PEM')
const act = <const T extends string>(choices: readonly T[]) =>
  mandatory<T>(oneOf(choices, '<action>', 'the act that you sign'))

const listedRequestId = 'its requestId, as listed'
const privateKey = optional('<file>', 'private key, PEM')
const approverId = optional('<id>', 'approverId of the enrolled key')
const enrolledKeyId = optional('<id>', 'keyId of the enrolled key')

export const approver = {
  keygen: command('keygen', {
    about: 'make an Ed25519 key pair and print the public key',
    options: {
      dir: required('<folder>', 'folder for the two files; made if it does not exist'),
      name: byDefault('approver', optional('<name>', 'name of the files')),
    },
  }),
  signApproval: command('sign-approval', {
    about: 'sign an approval of one action and print it as a body for POST /approvals',
    options: {
      key: mandatory(privateKey),
      approver: mandatory(approverId),
      keyId: mandatory(enrolledKeyId),
      capability: required('<action>', 'intent.action'),
      target: required('<target>', 'intent.target'),
      parameters: optional('<file>', "approve exactly these intent.parameters, a JSON file; '-' reads stdin"),
      limit: repeated(
        '<path=max>',
        'approve any parameters whose number at this path is at most max, such as amount=500; repeatable',
      ),
      expiresIn: byDefault('15m', optional('<time>', 'lifetime, such as 90s, 15m, 2h or 1d')),
    },
  }),
  signStepUp: command('sign-step-up', {
    about: 'sign the approval or rejection of a change and print the body to POST, valid for two minutes',
    options: {
      key: stepUpKey,
      change: required('<file>', "the change as the service answered it, JSON; '-' reads stdin"),
      action: act(['approve', 'reject']),
      keyId: stepUpKeyId,
      reason: optional('<text>', 'reason of a rejection'),
      impact: optional('<file>', 'report made by `simulate --report`; your signature covers it too'),
    },
  }),
  signEndpoint: command('sign-endpoint', {
    about:
      'sign that an event endpoint skips events or gets another secret, and print the body to POST, valid for two minutes',
    options: {
      key: stepUpKey,
      endpoint: required('<id>', 'its endpointId'),
      action: act(['redeliver', 'secret']),
      after: optional('<cursor>', 'for redeliver: a cursor of the feed, or now'),
      keyId: stepUpKeyId,
    },
  }),
  groups: command('groups', {
    about:
      'print the groups of approvers and their members; `changes propose approver-group` proposes another one',
    options: asPerson,
  }),
  standIns: command('stand-ins', {
    about:
      'print who counts in whose place, from when until when; `changes propose stand-in` proposes another one',
    options: asPerson,
  }),
  requests: command('requests', {
    about:
      'print the approval requests that wait for you, the first to expire on top: expiry, id, action code, requester, what is asked for, approvals missing, note',
    options: {
      ...asPerson,
      all: flag('all open requests, also those that you cannot sign or have signed'),
    },
  }),
  signRequest: command('sign-request', {
    about: 'show what an approval request asks for, ask y/N, then sign and deliver the approval',
    args: {
      id: argument(
        '[id]',
        `${listedRequestId} (default: the first to expire of the requests that wait for you; if none waits, the next to arrive)`,
      ),
    },
    options: {
      ...asPerson,
      key: privateKey,
      approver: approverId,
      keyId: enrolledKeyId,
      reason: optional('<text>', 'why you approve, signed for later readers (default: it asks)'),
    },
  }),
  noteRequest: command('note-request', {
    about: 'write a note on an open approval request: ask its requester back, or answer as the requester',
    args: { id: argument('<id>', listedRequestId) },
    options: { ...asPerson, text: required('<text>', 'the note, shown to approvers and requester') },
  }),
  declineRequest: command('decline-request', {
    about: 'decline an approval request for good; approvals already given for it no longer count',
    args: { id: argument('<id>', listedRequestId) },
    options: { ...asPerson, reason: required('<text>', 'reason, shown to the requester') },
  }),
}

export const catalogue = {
  rebuild: command('rebuild', {
    about:
      'make the catalogue again from what is stored, beside running services; CATALOGUE_DAYS says how far back',
  }),
}

const receiverConfig = required('<file>', 'YAML file that says what the receiver does')

export const receiver = {
  http: command('http', {
    about: 'carry out the releases of a capability by requests to an API of your own',
    options: { config: receiverConfig },
  }),
  stripe: command('stripe', {
    about: 'carry out payment intents, refunds and payouts at Stripe; STRIPE_API_KEY is its secret key',
    options: { config: receiverConfig },
  }),
}

const gatewayFile = '<file>'
const GATEWAY = 'YAML file of the gateway; its journal and its pin are kept beside it'

export const mcp = {
  serve: command('mcp', {
    about:
      'serve the tools of an MCP server to an agent: each call is decided by policy, approved by a human where one is asked, and leaves a receipt',
    args: {
      upstream: argument(
        '[server...]',
        'with --trial: the command that starts the server, after --, or the address of one',
      ),
    },
    options: {
      config: optional(gatewayFile, GATEWAY),
      ...asPerson,
      profile: optional(
        '<file>',
        'address and key of the agent (default: agent.json beside the file of the gateway)',
      ),
      port: port(
        'serve Streamable HTTP on this port instead of standard input and output, to clients with an access token of http.tokenIssuers in the file',
      ),
      unauthenticated: flag('with --port: serve whoever reaches the port, on this machine alone'),
      trial: flag(
        "propose and approve everything with the humans of `setup humans`, and print the lines of a client's configuration",
      ),
      alias: optional(
        '<name>',
        "with --trial: name of the server in actions (default: from the server's command)",
      ),
      dir: byDefault(
        'mine/mcp',
        optional('<folder>', 'with --trial: where the folder of the gateway is made'),
      ),
      humans: byDefault('mine/humans', optional('<folder>', 'with --trial: profiles of Alice and Bob')),
    },
  }),
  pin: command('pin', {
    about:
      'write what humans approve: the tools as the server lists them now, and the policy that names them',
    options: { config: required(gatewayFile, GATEWAY) },
  }),
}

export const setup = {
  humans: command('humans', {
    about:
      'prepare a trial while no service runs here: enroll two governing humans, an approver and an agent, ready for a first payment',
    options: {
      dir: byDefault(
        'mine/humans',
        optional('<folder>', 'new folder for all their keys; must not exist yet'),
      ),
      connector: byDefault('http://127.0.0.1:8080/', optional('<url>', 'endpoint of the payment connector')),
      tools: byDefault(
        'http://127.0.0.1:8081/',
        optional('<url>', "endpoint of the connector for a language model's tool calls"),
      ),
      ownDatabase: flag('allow the database of DATABASE_URL'),
    },
    after: '\nSet HOST, PORT and DATA_DIR as for the start of the service: the profiles contain its address.',
  }),
}

export const policy = {
  check: command('check', {
    about: 'report every mistake in policies with file, line, column and rule; exits 1 if there is one',
    args: {
      path: argument('<path>', 'a policy.yaml, the folder of a version or of a policy, or a POLICY_DIR'),
    },
  }),
  test: command('test', {
    about: 'run the cases.yaml of each policy; exits 1 if a case fails or a rule decides no case',
    args: { path: argument('<path>', 'as for check') },
  }),
  explain: command('explain', {
    about: 'explain in words how a policy decides a transaction, signal by signal and rule by rule',
    args: {
      file: argument('<policy.yaml>'),
      transaction: argument(
        '<transaction.json>',
        'the body of POST /execute; members that the policy does not read may be missing',
      ),
    },
    options: { at: optional('<time>', 'RFC 3339; time of the decision (default: now)') },
  }),
}

export const simulate = command('simulate', {
  about:
    'list the past decisions of a running service that a policy file or a change would flip, and the executions that retiring versions would have refused; changes nothing',
  args: {
    file: argument('[policy.yaml]', 'policy to simulate; optional with --policy or --change'),
  },
  options: {
    ...asPerson,
    apiKey: apiKey('API key; a human or --read-all key sees the decisions of all callers'),
    key: optional('<key>', 'the same as --api-key'),
    since: optional('<time>', 'RFC 3339; start of the range (default: the oldest decision)'),
    until: optional('<time>', 'RFC 3339; end of the range, excluded (default: now)'),
    policy: optional('<name>', 'instead of the file: the policy whose versions --retires ends'),
    retires: optional(
      '<versions...>',
      'versions to retire; lists the executions that would have been refused',
    ),
    change: optional(
      '<file>',
      "instead of all three: the change of a policy as the service answered it, JSON; '-' reads stdin",
      (option) => option.conflicts(['policy', 'retires']),
    ),
    report: optional(
      '<file>',
      'write the impact report of the change to this file, for `approver sign-step-up --impact`',
    ),
  },
})

export const auditPack = command('audit-pack', {
  about:
    'save the evidence of a period with its keys, compare it with the evidence log hash by hash, verify it and write a report for people; exits 0 all there and valid, 1 something is missing or invalid, 2 could not check',
  options: {
    ...asPerson,
    since: optional('<time>', 'RFC 3339; start of the period (default: the oldest evidence)'),
    until: optional('<time>', 'RFC 3339; end of the period, excluded (default: now)'),
    output: mandatory(
      optional('<folder>', 'new or empty folder for the pack', (option) =>
        Object.assign(option, { short: '-o' }),
      ),
    ),
  },
})

export const bench = command('bench', {
  about: 'load-test a deployment (--url, --key) or a fresh local service; --help says more',
  args: { args: argument('[arguments...]', 'scenarios and options of the bench') },
})
