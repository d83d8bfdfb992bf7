// What was tried against the service, how it is refused, and the tests that try it: the rows of docs/abuse.md.
import { type Row } from '../conformance/table.ts'

export interface Abuse extends Row {
  readonly tried: string
  readonly refused: string
}

const stepUp = '403 stepUpInvalid'
const notStored = 'POST /approvals 400 invalidField › %s is refused and not stored'
const execution = 'an execution whose policy asks for approvals'
const lost = 'an answer that is not whole counts as lost'

const changes: readonly Abuse[] = [
  {
    tried:
      'A step-up sent again, for the change that it approved, for another one, or twice at the same moment',
    refused:
      '403 `STEP_UP_AUTHORIZATION_INVALID`; its nonce is consumed in the commit that it approves, and by nothing else',
    tests: {
      'http/governance': [
        `${stepUp} › one that was used before, on the change that it approved`,
        `${stepUp} › one whose nonce was used on another change`,
        '409 conflict › one step-up sent twice at the same moment resolves once',
      ],
    },
  },
  {
    tried: 'A step-up with the hash of another change, or for another change',
    refused: '403; it names the change and the hash of what the human was shown',
    tests: {
      'http/governance': [
        `${stepUp} › one for another change`,
        `${stepUp} › one with the hash of other content than the change has`,
      ],
    },
  },
  {
    tried: 'A change that is swapped between the look and the signature',
    refused:
      'the command signs only what the hash is of; with the hash swapped too, the service refuses the signature',
    tests: {
      'approver-command': [
        'sign-step-up › a change whose content was swapped under its hash is not signed',
        'sign-step-up › a change that was swapped together with its hash is shown, and refused by the service',
      ],
    },
  },
  {
    tried: 'An approval used to reject, or a rejection used to approve: a signed no taken for a yes',
    refused: '403; the action is signed',
    tests: {
      'http/governance': [`${stepUp} › one for the opposite action, both ways`],
      'approver-command': [
        'sign-step-up › a step-up for the one is none for the other: an approval does not reject',
      ],
    },
  },
  {
    tried:
      'Approving one’s own change: directly, or by a second key of the same human with a step-up key of its own',
    refused: '403 `SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE`; what counts is the `callerId`, not the key',
    tests: {
      'http/governance': [
        '403 sameActor › who proposed a change neither approves nor rejects it',
        '403 sameActor › not by a second key of the same caller either, with a step-up key of its own',
        `${stepUp} › one by the proposer's own step-up key, sent by the checker`,
      ],
      'http/approvers': [
        'POST /approvers/changes/{id}/approve 403 sameActor › nobody enrols himself: who proposed it does not approve it',
        'POST /approvers/changes/{id}/approve 403 stepUpInvalid › a step-up by the approver’s own new key is none',
      ],
    },
  },
  {
    tried:
      'A step-up that is expired, dated in the future, or valid for too long; 30 February; a leap second',
    refused: '403, by the clock of the service; a time that cannot be read compares as no',
    tests: {
      'http/governance': [
        `${stepUp} › one that is %s | expired`,
        `${stepUp} › one that is %s | dated in the future`,
        `${stepUp} › one that is %s | valid for more than 120 seconds`,
        `${stepUp} › one that is %s | of a leap second, which clocks tell apart`,
        `${stepUp} › a signed payload with %s is no step-up | a day that does not exist`,
      ],
      'authority/step-up': ['does not hold › by a clock that cannot be read'],
    },
  },
  {
    tried:
      'Another human’s signature, a payload changed after it was signed, a signature of another kind of evidence',
    refused: '403; Ed25519 by the caller’s own step-up key, over bytes that begin with what they are',
    tests: {
      'http/governance': [
        `${stepUp} › one by another human's key`,
        `${stepUp} › one whose payload was changed after it was signed`,
      ],
      'authority/step-up': ['what the same human signed as another artifact is no step-up'],
    },
  },
  {
    tried: 'A body with two readings: a key twice, `__proto__`, deeper than 64',
    refused: '400, before anything is looked at',
    tests: {
      'http/governance': [
        '400 malformedJson › %s in one body has no single reading | two step-ups',
        '400 malformedJson › %s in one body has no single reading | two actions',
      ],
    },
  },
  {
    tried: 'Two checkers at once, on two instances; two open changes of one thing',
    refused: 'one resolves it, the other is told so with 409; one change of a target is open',
    tests: {
      'http/governance': [
        '409 conflict › of two checkers at the same moment, on two instances, one resolves it and one is told so',
        '409 conflict › at most one change of a target is open, whoever proposes at the same moment',
      ],
    },
  },
  {
    tried: 'A machine that proposes or approves',
    refused: '403 `NON_HUMAN_CALLER_DENIED`, before its body is read',
    tests: {
      'http/governance': [
        '403 nonHumanCaller › a caller that is no human neither sees, proposes nor resolves, whatever its body',
      ],
    },
  },
  {
    tried: 'A change rewritten in the database before it is approved',
    refused: 'not put in effect: it no longer has its signature',
    tests: {
      'http/governance': [
        '500 internal › a change that somebody has written to in the database is not put in effect',
      ],
    },
  },
]

const approvals: readonly Abuse[] = [
  {
    tried:
      'An approval used twice: for a second execution, delivered again, its nonce under a new id, by forty at once',
    refused: 'used up in the commit that claims the execution; delivering it again is 409',
    tests: {
      'http/approvals': [
        `${execution} › uses an approval up: a second execution under a new id is denied`,
        `${execution} › races for one approval on two instances: one of forty gets it`,
        'POST /approvals 409 conflict › the same approval again, and its nonce under another id',
      ],
    },
  },
  {
    tried: 'A fresh approval to run an operation again that was executed',
    refused: '409; the fresh approval stays unused',
    tests: { 'http/approvals': [`${execution} › that was a duplicate uses nothing up`] },
  },
  {
    tried:
      'Burning an approval without an execution: by a crash at any point, a database that goes before the claim, rules that reject',
    refused: 'it is used by the execution that was claimed, or it stays unused',
    tests: {
      'crash/points': [
        'killed at any of them, an execution has its effect once at most and is accounted for',
      ],
      'http/approvals-kept': [
        'a claim that waits and then loses its database is a 503, the approval stays unused, and the same id is executed later',
      ],
      'http/approvals': [`${execution} › that its rules reject uses nothing up`],
    },
  },
  {
    tried:
      'Approve A, execute B: another target, another value, one parameter more or less, a list in another order, text for a number',
    refused:
      '403 `POLICY_DENIED` with a Refusal Record; an approval covers a capability, a target and these parameters',
    tests: {
      'http/approvals': [
        `${execution} › an approval within limits does not cover %s | another target`,
        `${execution} › an approval within limits does not cover %s | an amount over the limit`,
        `${execution} › an approval within limits does not cover %s | an amount that is text`,
        `${execution} › an exact approval does not cover %s | another value`,
        `${execution} › an exact approval does not cover %s | one more parameter`,
        `${execution} › an exact approval does not cover %s | a reordered list`,
      ],
      'verifier/scope': [
        'the hash of the parameters covers them and nothing else',
        'every one of several limits must hold',
      ],
    },
  },
  {
    tried: 'A scope or payload altered after it was signed; a scope that nobody can wholly read',
    refused: '400, not stored; what is not wholly understood covers nothing',
    tests: {
      'http/approvals': [
        `${notStored} | a payload that was changed`,
        `${notStored} | two scopes at once`,
        `${notStored} | no limits`,
      ],
      'verifier/scope': [
        'a scope that is not wholly understood covers nothing, and nothing throws',
        'a limit does not cover › %s | the prototype',
      ],
    },
  },
  {
    tried: 'An approval from the future, one that has expired or expires while it waits, 30 February',
    refused: '400 when it is delivered; not counted at the moment of the claim',
    tests: {
      'http/approvals': [
        `${notStored} | the future`,
        `${notStored} | what has expired`,
        `${notStored} | 30 February`,
        `${execution} › does not count what has expired since it was delivered`,
      ],
    },
  },
  {
    tried: 'A quorum by one human with two keys, or by one key under two names',
    refused: 'humans are counted, not keys; a public key is enrolled once',
    tests: {
      'http/approvals': [`${execution} › counts people, not keys: two keys of one person are one`],
      'http/approvers': [
        'POST /approvers/changes 409 conflict › one key has one name: under another approver or another key id it is refused, revoked or not',
        'POST /approvers/changes/{id}/approve 409 conflict › two changes that were open at once cannot enrol one key under two names',
      ],
    },
  },
  {
    tried: 'A quorum spliced from approvals of different actions',
    refused: '403; each must be of this action',
    tests: {
      'http/approvals': [`${execution} › does not splice a quorum of approvals for different actions`],
    },
  },
  {
    tried: 'The initiator approves, or the executor',
    refused: 'an approval by the principal or the caller of the transaction is not counted',
    tests: {
      'http/approvals': [
        `${execution} › never counts the approval of whoever proposes it: neither its principal nor its caller`,
      ],
    },
  },
  {
    tried: 'A revoked approver, also with an approval delivered before the revocation',
    refused: 'not counted; records from before still verify',
    tests: {
      'http/approvals': [
        `${execution} › does not count the approval of a key that was revoked; a record from before still verifies`,
      ],
    },
  },
  {
    tried:
      'An approver or key that nobody enrolled, one’s name and another’s signature, a signature in another base64',
    refused: '400, not stored: the caller brings no approvers of its own',
    tests: {
      'http/approvals': [
        `${notStored} | an unknown approver`,
        `${notStored} | an unknown key`,
        `${notStored} | the name of one and the signature of another`,
        `${notStored} | base64 that is not padded`,
      ],
    },
  },
  {
    tried:
      'A weak key, or a key of the service, enrolled as an approver’s; an approver’s key passed off as the service’s',
    refused: '400; keys of humans and of the service verify different kinds of evidence',
    tests: {
      'http/approvers': [
        'POST /approvers/changes 400 invalidField › %s is refused | the neutral point',
        'POST /approvers/changes 400 invalidField › a signing key of the service is refused: it would sign approvals of itself',
      ],
      'verifier/crypto': [
        'a key of a human and a key of the service never pass for each other › %s is by the service alone',
        'a key of a human and a key of the service never pass for each other › %s is by a human alone',
      ],
      'connectors/external-receiver': ["an approver's key in the set does not pass for the service's"],
    },
  },
  {
    tried:
      'A declared state that is not the verified one: a CRM deal that differs, a velocity limit raced by forty',
    refused: '403 `POLICY_DENIED`; nothing is written',
    tests: {
      'http/crm-deal': ['%s: denied, and nothing is written'],
      'http/history': [
        'lets three of forty through that all claim to be one of the first, on two instances',
        'sums as decimals, not as floating point, and takes nothing from what is no number',
      ],
    },
  },
]

const doubt: readonly Abuse[] = [
  {
    tried: 'A connector that never answers; a second submission while it is in doubt, also after a restart',
    refused: '502, in doubt at once, never run again: a repeat is a 409',
    tests: {
      'crash/in-doubt': [
        'a connector that never answers: 502 when its time is up, in doubt at once, listed by itself',
        'after a kill each execution is finalized or listed in doubt; a repeat is a 409 and is never run',
      ],
    },
  },
  {
    tried: 'A crash at every point around the call of the connector',
    refused: 'the effect happens once at most, and every execution is accounted for',
    tests: {
      'crash/points': [
        'killed at any of them, an execution has its effect once at most and is accounted for',
      ],
    },
  },
  {
    tried: 'The effect happened and the database is gone',
    refused: '502, never reopened; the evidence is stored when the database is back',
    tests: {
      'crash/database-gone': [
        'gone before the claim: 503 at once, and nothing executed; gone after the effect: 502, the evidence once it is back, and never executed again',
        'gone for a moment while the connector works: the evidence is stored once it is back',
      ],
      'crash/pending-evidence': [
        'is stored once the database is back, without a human: FINALIZED or ERRORED, whole, once, and off the list',
      ],
    },
  },
  {
    tried: 'Execution where no claim can be made: a table that cannot be written',
    refused: 'no call, however well authorized',
    tests: {
      'tables/execution-intents': [
        'the execution-intents table › is not by one that may only %s',
        'the execution-intents table › is not where nothing can be written: on a standby',
      ],
    },
  },
  {
    tried: 'A stale worker that finishes after a human has closed the execution',
    refused: 'it changes nothing; whoever is first wins whole',
    tests: {
      'http/execution-intents': [
        'a worker and a human at the same moment › a worker that finishes after the resolution changes nothing and answers 502',
        'a worker and a human at the same moment › whoever is first wins whole: a record and no resolution, or a resolution and no record',
      ],
    },
  },
  {
    tried:
      'Closing an execution by false evidence: of another execution, of another attempt, with a flipped outcome and a new digest',
    refused: '409; only the stored record of this authorization, verified, closes it',
    tests: {
      'http/execution-intents': [
        'POST /execution-intents/{id}/finalize 409 conflict › evidence of another execution cannot settle this one',
        'POST /execution-intents/{id}/finalize 409 conflict › evidence of another attempt cannot settle this one',
        'POST /execution-intents/{id}/finalize 409 conflict › a flipped outcome with a recomputed digest closes nothing',
        'POST /execution-intents/{id}/finalize 409 conflict › an authorization that was exchanged beside the record',
      ],
    },
  },
  {
    tried: 'Resolving against a record that holds, twice with contradicting words, or as a machine',
    refused: '409, 409 and 403',
    tests: {
      'http/execution-intents': [
        'POST /execution-intents/{id}/resolve 409 conflict › no word stands against a stored record that holds',
        'POST /execution-intents/{id}/resolve 200 › of two humans who contradict each other at once one is heard',
        'GET /execution-intents/unfinalized 403 nonHumanCaller › %s is for humans: not for its caller, not for an auditor, and the intent stays as it is',
      ],
    },
  },
  {
    tried: 'Resolving as NOT_EXECUTED to free the id for another try',
    refused: 'the id stays used',
    tests: {
      'http/execution-intents': [
        'POST /execution-intents/{id}/resolve 200 › NOT_EXECUTED does not free the id: a repeat is a replay, not a retry',
      ],
    },
  },
  {
    tried: 'An authorization presented twice, in another wrapper, from other processes, after a restart',
    refused: '`NONCE_ALREADY_CONSUMED`',
    tests: {
      gateway: [
        'NONCE_ALREADY_CONSUMED › a replay, however it is wrapped',
        'NONCE_ALREADY_CONSUMED › from other processes, too, at the same time and after a restart',
      ],
    },
  },
  {
    tried: 'Load alone, to leave something in doubt',
    refused: 'nothing is',
    tests: { 'crash/in-doubt': ['load without a fault leaves nothing in doubt and every intent finalized'] },
  },
]

const outside: readonly Abuse[] = [
  {
    tried:
      'An endpoint inside (SSRF): decimal, octal, hexadecimal and short IPv4, full-width digits, IPv6 and IPv4 within it, link-local, metadata addresses, `localhost`',
    refused: '400 when it is proposed, again when it is approved, and again at each call',
    tests: {
      'http/external-connectors': [
        'POST /external-connectors/changes 400 invalidField › %j is no endpoint | https://2130706433/',
        'POST /external-connectors/changes 400 invalidField › %j is no endpoint | https://[::ffff:7f00:1]/',
        'POST /external-connectors/changes/{id}/approve 400 invalidField › an endpoint is looked at again when it is approved: what may be proposed outside production is not approved in it',
      ],
      'connectors/address': [
        'an endpoint › is no private address, however written: %s | https://169.254.169.254/latest/meta-data/',
        'an endpoint › is no private address, however written: %s | https://0177.0.0.1/',
        'an endpoint › is no private address, however written: %s | https://0x7f000001/',
        'an endpoint › is no private address, however written: %s | https://127.1/',
        'registration and approval refuse what a call would refuse',
      ],
      'connectors/call': [
        'a request is certainly not sent › to an address that is not public, where it has to be',
      ],
    },
  },
  {
    tried: 'A URL that reads as one host and means another; credentials, a fragment or a query in it',
    refused: '400: the text that a human approves is the one that is called',
    tests: {
      'connectors/address': ['an endpoint › %j is shown to its checker as the host that it means'],
      'http/external-connectors': [
        'POST /external-connectors/changes 400 invalidField › %j is no endpoint | https://user:secret@1.1.1.1/',
        'POST /external-connectors/changes 400 invalidField › a query is refused: a secret in it would be shown and signed',
      ],
    },
  },
  {
    tried:
      'DNS rebinding: a name that was public when it was checked and points inside when it is called; one private address among public ones',
    refused: 'not sent: each call looks the name up once, and connects to the address that was checked',
    tests: {
      'connectors/call': [
        'a request is certainly not sent › to a name that was public when it was checked, and points inside when it is called',
      ],
      'connectors/external': [
        'nothing is sent › to a name that pointed outside when it was approved, and points inside now',
      ],
      'connectors/registration': [
        'a name that is public when it is proposed and private when it is approved is refused then',
      ],
      'connectors/address': ['a host name › is refused whole for one address that is not public: %j'],
    },
  },
  {
    tried: 'Redirects',
    refused: 'not followed; the outcome is unknown',
    tests: {
      'connectors/call': ['a request › follows no redirect'],
      'connectors/outcomes': ['%s › %i is unknown'],
    },
  },
  {
    tried: 'Answers that are too large, never end, drip or never come',
    refused: 'read to 64 KiB and to the time-out, then unknown: in doubt',
    tests: {
      'connectors/call': [
        `${lost} › %s | larger than the limit`,
        `${lost} › %s | without an end`,
        `${lost} › %s, when the time is over | a body that drips`,
        `${lost} › %s, when the time is over | silence`,
      ],
      'connectors/outcomes': ['%s › %s is unknown | a larger body than is read'],
    },
  },
  {
    tried: 'A compression bomb',
    refused: 'nothing is decompressed',
    tests: {
      'connectors/call': [
        'a request › decompresses nothing: an endless text in a few bytes stays these few bytes',
      ],
      'connectors/outcomes': ['%s › %s is unknown | a compressed body'],
    },
  },
  {
    tried: 'An answer to another transaction, or with two readings',
    refused: 'unknown: it proves nothing about this one',
    tests: {
      'connectors/outcomes': [
        '%s › %s is unknown | an answer to something else',
        '%s › %s is unknown | a key that is there twice',
        '%s › %s is unknown | a number that may have been another',
      ],
    },
  },
  {
    tried: 'A certificate of another name, or by an authority that nobody trusts',
    refused: 'not a byte of the request is sent',
    tests: {
      'connectors/call': [
        'over TLS › the connection goes to the looked-up address, and the certificate must be of the name',
        'over TLS › an authority that nobody trusts is refused before a byte of the request',
      ],
    },
  },
  {
    tried:
      'A parameter that was not approved to leave the service; a registration that takes over a built-in action',
    refused: 'nothing is sent; 400',
    tests: {
      'connectors/external': [
        'nothing is sent › with a parameter that is not registered',
        'a registration › takes no action over that is built in',
      ],
    },
  },
  {
    tried: 'A release repeated, altered, forged, expired, or meant for another receiver',
    refused: 'by the receiver of examples/external-receiver, before anything is done',
    tests: {
      'connectors/external-receiver': [
        'a repeat gets the stored answer, at the same time or after a restart, and nothing is done again',
        'what is no release of the service for this receiver is refused before anything is done',
      ],
    },
  },
]

const policies: readonly Abuse[] = [
  {
    tried: 'An expression that backtracks for ever (ReDoS), loops within loops, text built without end',
    refused: '400 when it is proposed, by rule and column; rules have no `matches()` and no nested loops',
    tests: {
      'http/policies': [
        '400 invalidField › a document with %s | an expression that backtracks for ever',
        '400 invalidField › a document with %s | loops in loops',
      ],
      'policy/check': [
        'an expression is refused, by rule and column › %s | intent.target.matches("^(a+)+$")',
      ],
    },
  },
  {
    tried: 'Deep nesting, long expressions, hundreds of rules, documents over the limit',
    refused: '400 or 413, in bounded time',
    tests: {
      'http/policies': [
        '400 invalidField › a document with %s | an expression deeper than it may be',
        '400 invalidField › a document with %s | an expression longer than it may be',
        '400 invalidField › a document with %s | more rules than it may have',
        '413 payloadTooLarge › a document over the limit',
      ],
    },
  },
  {
    tried: 'Values of a caller that are too many, too deep, or named like members of JavaScript’s objects',
    refused: 'rejected; they are only names',
    tests: {
      'policy/evaluate': [
        'names and shapes of a hostile caller › are only names: %s',
        'names and shapes of a hostile caller › more values than a rule may look at, and deeper ones, are rejected',
      ],
    },
  },
  {
    tried:
      'Changing a version after its approval; proposing other content than is loaded; a loaded version that nobody approved',
    refused: '409; 409; it rejects everything until two humans have agreed',
    tests: {
      'http/policies': [
        '409 conflict › an approved version never changes, nor is it proposed again',
        '409 conflict › other content than is loaded is refused: file and database would differ from the first day',
        'a version that an upgrade has shipped › rejects until it is approved, then is in effect on every instance and worker within a second',
        'a version that an upgrade has shipped › one whose content has moved since it was proposed is not approved',
      ],
    },
  },
  {
    tried: 'A name that is a path, or one of our own paths',
    refused: '400, 404',
    tests: {
      'http/policies': [
        '400 invalidField › %s is no name of a policy',
        '400 invalidField › a document with %s | a name in which a path hides',
      ],
    },
  },
]

const deliveries: readonly Abuse[] = [
  {
    tried:
      'A signature in upper case, too short, too long, prefixed, given twice, of other bytes or under another secret',
    refused: '401, the malformed ones before the body is read; nothing is stored, and the audit knows',
    tests: {
      'http/webhooks': [
        '401 invalidSignature › that is %s',
        '401 invalidSignature › every prefix of the body but the whole one',
        '401 invalidSignature › comes before a missing event id, and is audited without the signature',
      ],
    },
  },
  {
    tried: 'A captured delivery sent again: under its id, under a new id, to two instances at once',
    refused: 'acknowledged and not stored; under a new id it is audited',
    tests: {
      'http/webhooks': [
        'POST /webhooks/{provider} 200 › the same bytes under a new id are acknowledged, not stored, and audited before the reply',
        'POST /webhooks/{provider} 200 › two instances get the same event a hundred times at once: one accepts it, and it is processed once',
      ],
    },
  },
  {
    tried: 'Bodies that are no JSON, no UTF-8, empty, nested without end, huge, or announced and never sent',
    refused:
      'stored as they are where they are signed; 413 above 1,000,000 bytes; a share of the room for each address',
    tests: {
      'http/webhooks': [
        'POST /webhooks/{provider} 200 › a body that is %s is stored as it is and processed',
        '413 payloadTooLarge › above 1,000,000 bytes, before they are read',
        '503 overloaded › bodies that one address announces and never sends leave room for others',
      ],
    },
  },
  {
    tried: 'A provider that is not configured, or whose name is one of the language’s own',
    refused: '404, as any unknown path',
    tests: {
      'http/webhooks': ['404 pathNotFound › a provider without a secret is no path of the service: %s'],
    },
  },
  {
    tried:
      'kill -9 between the acknowledgement and the job, and one delivery that cannot be stored or processed among many',
    refused: 'every acknowledged delivery is processed once; the others are not held up',
    tests: {
      'crash/webhooks': [
        'after each of ${KILLS} kills every acknowledged delivery is there and is processed once',
      ],
      'http/webhooks': [
        'POST /webhooks/{provider} 200 › of a batch, one that cannot be stored fails alone',
        'a job that fails is tried again while its neighbours are done, and succeeds when it can',
      ],
    },
  },
]

const unharmed = 'executions of others go on while'

const neighbours: readonly Abuse[] = [
  {
    tried: 'Four connections of a key without capabilities post 96 KB bodies to `/sandbox/evaluate`',
    refused:
      'every execution of another caller is 200, about as fast as before; 429 when the thread time is used up',
    tests: {
      'abuse/neighbours': [
        `${unharmed} › a key without capabilities has 96 KB bodies evaluated over four connections`,
      ],
      'http/compute-limits': [
        'POST /sandbox/evaluate 429 rateLimited › a caller that has used up its thread time waits; others, and its own executions, do not',
        'POST /sandbox/evaluate 429 rateLimited › what waits for a thread when the budget is used up is refused too, not only what comes later',
      ],
    },
  },
  {
    tried: 'Sixteen connections of one address, without a key, post 96 KB bodies to `/refusal/verify`',
    refused: 'the same; an address has a fifth of a caller’s thread time',
    tests: {
      'abuse/neighbours': [
        `${unharmed} › an address without a key has 96 KB bodies verified over sixteen connections`,
      ],
      'http/compute-limits': [
        'POST /refusal/verify 429 rateLimited › a client address has a fifth of what a caller has, shared by the open routes',
      ],
    },
  },
  {
    tried:
      '4,096 connections announce a one-byte body to `/webhooks/<provider>` or `/execute` and never send it',
    refused:
      'a body takes a place when it is complete; of what is announced one client has a quarter, then 503 `OVERLOADED`',
    tests: {
      'abuse/neighbours': [`${unharmed} › 4,096 connections announce a body to %s and never send it`],
      'door/admission': ['a body that is announced › holds no place until it is there'],
    },
  },
  {
    tried: 'Executions of 96 KB of one caller within its limit',
    refused: 'they have a thread of their own; executions of others are about as fast as before',
    tests: {
      'abuse/neighbours': [
        `${unharmed} › a caller sends executions of 96 KB within its limit over eight connections`,
      ],
    },
  },
  {
    tried: '210 simulations of one caller wait',
    refused: 'a human’s governance change is answered at once, on a thread that nobody’s bulk work reaches',
    tests: {
      'abuse/neighbours': [
        "a human's change is answered before the 210 simulations of one caller that wait already",
      ],
      'door/fair-queue': [
        'a client that waits is served within one item of every other, whatever was pushed and taken before',
      ],
    },
  },
]

const pageEnds = 'a hundred records of 270 KB'
const many = 'a record with 50,000 verifications'

const growth: readonly Abuse[] = [
  {
    tried: 'One caller has 50,000 verifications appended to its record',
    refused:
      '409 `CONFLICT` from 10,000 on; a record that has more is read with its newest 100 and their number, exports pass it, and a list of its own has all',
    tests: {
      'http/growth': [
        `${many} › is read: the newest 100, oldest first, and how many there are`,
        `${many} › is read without reading the others`,
        `${many} › does not stop an export`,
        `${many} › takes no more of them, and says so; what it has stays of use`,
      ],
    },
  },
  {
    tried: 'A hundred records of 270 KB on one export page',
    refused: 'the page ends at 4 MiB, and its `Link` goes on behind it; what does not fit is not read',
    tests: {
      'http/growth': [
        `${pageEnds} › GET %s: each page ends at 4 MiB and its Link goes on behind it, to every one of them once`,
        `${pageEnds} › a page by number that ends early skips nothing: its Link leads to what it left out`,
        `${pageEnds} › what does not fit is not read: the database sends what the page shows`,
      ],
    },
  },
]

const evidence: Abuse[] = [
  {
    tried: "Control characters in a record's keyId, in the names of its members, in its ids",
    refused:
      'no verifier prints them: each is replaced, the same ones in TypeScript, in Python and on the page',
    tests: {
      'verifier/command': ['evidence cannot write to the terminal'],
      'verifier/printable': ['printable › replaces the same in Python'],
      'browser/verifier': [
        'the verifier page, saved and opened with the network off › characters that are not seen, or that turn the direction of others, are replaced',
      ],
    },
  },
  {
    tried:
      '`stepUpAuthorization.keyId` is an object; members nested 100 deep; a key set with `use: enc`, a private `d`, two names',
    refused: 'TypeScript and Python say the same of each, and neither throws',
    tests: {
      vectors: [
        'the TypeScript verifier says of every case what is published of it',
        'the Python package › says of every case what is published of it',
      ],
      'verifier/differential': ['mutations › are the same to both verifiers, and of every outcome'],
    },
  },
  {
    tried:
      'A signature under the name of a key that nobody has, so that a check that fails looks like a key that is missing',
    refused:
      'everything else is looked at, and what fails makes it invalid; without a failure it cannot be checked',
    tests: {
      'verifier/command': [
        'a key that is not given › hides no check that fails, in this evidence or another',
      ],
    },
  },
]

export const sections: Readonly<Record<string, readonly Abuse[]>> = {
  'Changes and step-ups': changes,
  'Approvals and verified state': approvals,
  'In doubt and replay': doubt,
  'Calls to the outside': outside,
  Policies: policies,
  'Deliveries of providers': deliveries,
  'Stopping others': neighbours,
  'Making evidence unreadable': growth,
  Evidence: evidence,
}
