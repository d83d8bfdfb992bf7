// Which tests prove which statement of the contract: row id → file under test/ → titles, as `describe › test` where that is needed.
// A title is the text in the source, `%s` and all. A statement that ends in "not shown" is proven as docs/decisions.md settles it.

/** Titles by file, named without `test/` and `.test.ts`. */
export type Proof = Readonly<Record<string, readonly string[]>>

const noKey = '$method $path needs a key'
const anyKey = 'not $method $path: an open route takes any key or none'
const answered = 'without a key › %s %s is answered'
const inOrder = 'checks the key, the id, the body, the policy, its outcome and the connector, in this order'
const wholeRecord =
  'POST /execute 200 › answers the whole Execution Trust Record, with its verification and receipt'
const duplicates = 'wins over every other outcome once the id is that of one %s'
const oneFailureShape = 'a failure › is an object of a plain text and, where there is one, a code'
const oneBudget = 'a caller has one budget for both routes and all its keys, counted down in the headers'
const healthBudget =
  'GET /health and GET /ready share a budget for each client address, which the nearest proxy tells'
const notLookedInto = 'a refused request is not looked into, stores nothing and leaves its id unused'
const foreignRecord = "another's record is answered as an unknown id is, byte for byte"
const noIdOfAny = '%j is no id of any'
const forHumans =
  '403 nonHumanCaller › a caller that is no human neither sees, proposes nor resolves, whatever its body'
const usedUp = 'uses an approval up: a second execution under a new id is denied'
const unapproved = 'is denied without one, with a Refusal Record that says why'
const oneOfForty = 'races for one approval on two instances: one of forty gets it'

const system: Readonly<Record<string, Proof>> = {
  '4/every-route-requires-a-bearer': {
    'http/door': [noKey],
    'http/conformance': ['nothing else of the route table is, but for documents that decisions open'],
  },
  '4.1/get-none-200-name-string': { 'http/system': ['GET / 200 › names the service'], 'http/door': [noKey] },
  '4.1/get-health-none-open-200': {
    'http/system': [
      'GET /health 200 › is UP, without a key',
      'while there is no execution-intents table; GET /health is not concerned',
      'while there is no database, and again READY with one',
    ],
  },
  '4.1/get-ready-none-open-200': {
    'http/system': [
      'GET /ready 200 › is READY, without a key',
      'while there is no execution-intents table; GET /health is not concerned',
      'while there is no database, and again READY with one',
    ],
    'http/auth-disabled': ['GET /ready 200 › says that authentication is disabled'],
    'tables/execution-intents': ['is not by one that may only %s'],
  },
  '4.1/get-version-none-200-name': {
    'http/system': ['GET /version 200 › tells BUILD_VERSION and the version of the API'],
  },
  '4.1/get-openapi.yaml-none-open-200': {
    'http/documents': [
      'GET /openapi.yaml 200 › answers the whole document, which caches may keep for an hour',
    ],
    'openapi/document': [
      'has every route of the table and nothing else',
      'is lint-clean: no error and no warning',
    ],
    'http/conformance': [
      'the OpenAPI document is self-contained: every reference leads into the document itself',
    ],
  },
  '4.1/get-openapi.json-none-the-same': {
    'http/documents': ['GET /openapi.json 200 › answers the same document'],
  },
  '4.1/get-api-manifest.json-none-no': {
    'http/documents': [
      'names the versions of GET /version, the documents, the authentication and the clients, and nothing else',
      'names the client packages by the versions that they carry',
      'every place that it names is there, without a key',
    ],
  },
  '4.1/get-keys-keyid-path-keyid': {
    'http/keys': [
      'answers the key of every public file, historical ones included, with exactly the members of interface §2.7',
      'GET /keys/{keyId} 404 keyNotFound › %j is no key',
    ],
    'http/approvers': ['a revoked key stays published and says since when'],
    'signing/published': ['a key stays while its public file exists, private or not, and goes with it'],
  },
  '4.1/get-.well-known-jwks.json-none': {
    'http/keys': [
      'GET /.well-known/jwks.json 200 › lists every published key as GET /keys/{keyId} answers it',
      'answers the key of every public file, historical ones included, with exactly the members of interface §2.7',
    ],
  },
  '4.1/get-callers-me-none-200': {
    'http/system': [
      'GET /callers/me 200 › tells the effective scope, and nothing else of the entry',
      'GET /callers/me 200 › tells the defaults of what the entry leaves out',
    ],
    'http/auth-disabled': [
      'GET /callers/me 404 callerIdentityMissing › there is none, whatever key comes along',
    ],
  },
  '4.1/get-documentation-none-open-interactive': {
    'http/documents': ['GET /documentation 200 › is a page under a strict policy'],
    'browser/documents': [
      'the documentation shows every operation, and the page breaks none of its rules',
      'the documentation executes GET /health, which needs no key',
    ],
  },
  '4.1/get-reference-none-read-only': {
    'http/documents': [
      'is a page under a strict policy; the two style elements that Redoc makes are allowed by their hashes',
    ],
    'browser/documents': [
      'the reference shows every operation, in its styles, and the page breaks none of its rules',
    ],
  },
  '4.1/the-404-body-of-get': { 'http/keys': ['GET /keys/{keyId} 404 keyNotFound › %j is no key'] },
}

const execution: Readonly<Record<string, Proof>> = {
  '4.2/post-execute-request-businesstransaction-2.1': {
    'http/execute': [wholeRecord],
    'http/execute-bodies': ['what is stored is what was sent, but for what the service assigns'],
    validate: ['the fields that are tried here are those of the schema'],
  },
  '4.2/post-execute-success-200-with': { 'http/execute': [wholeRecord] },
  '4.2/post-execute-order-of-checks': {
    'http/conformance': [inOrder],
    'http/execute-bodies': ['each gets its documented answer while a good one beside each is executed'],
    validate: ['the first problem in the order of decisions §3 is the one that is told › %s'],
  },
  '4.2/post-execute-a-duplicate-businesstransactionid': {
    'http/execute-refused': [duplicates],
    'http/conformance': [
      'an id derived from a key of the caller is answered 409 when it comes again, and leads to the first result',
    ],
  },
  '4.2/post-execute-rate-limited-per': {
    'http/limits': [
      oneBudget,
      'another caller has a budget of its own; bad bodies count, requests without a key do not',
    ],
  },
  '4.2/post-execute-errors-are-in': {
    errors: ['over HTTP › %s is seen', 'over HTTP › %s is a row of src/core/errors.ts'],
  },
  '4.2/post-transactions-runs-the-same': {
    'http/execute': ['POST /transactions 201 › answers the record of the same execution'],
    'http/execute-bodies': ['POST %s: version 7, nil, text, nothing'],
    'http/conformance': [inOrder],
  },
  '4.2/get-transactions-query-page-integer': {
    'http/reads': [
      'every transaction stands on exactly one page',
      'GET /transactions 400 invalidPage › page=%s',
      'GET /transactions 400 invalidPageSize › pageSize=%s',
    ],
  },
  '4.2/get-transactions-response-200-array': {
    'http/reads': [
      'GET /transactions 200 › answers 25 a page unless told otherwise, newest first',
      'pages are full of the own: those of others neither show nor leave gaps',
    ],
  },
  '4.2/get-transactions-id-response-200': {
    'http/reads': ['GET /transactions/{id} 200 › answers the transaction as stored', noIdOfAny],
  },
}

const evidence: Readonly<Record<string, Proof>> = {
  '4.3/post-verify-businesstransactionid-uuid-200': {
    'http/verify': [
      'POST /verify 200 › appends a verification of its own to those that stand',
      'is FAILED and says so; no receipt until it is restored; what was found before stays',
    ],
  },
  '4.3/get-verification-id-path-id': {
    'http/verify': [
      'GET /verification/{id} 200 › answers the latest verification and runs none',
      'GET /verification/{id} 404 verificationNotFound › of a record that has none; one can then be made',
      `GET /verification/{id} 404 trustRecordNotFound › ${foreignRecord}`,
    ],
  },
  '4.3/post-receipt-businesstransactionid-uuid-200': {
    'http/receipts': [
      'answers a new receipt of the latest verification, which verifies with the published keys',
      'POST /receipt 409 receiptNotVerified › a record that no verification stands for',
    ],
    'http/verify': ['is FAILED and says so; no receipt until it is restored; what was found before stays'],
  },
  '4.3/get-receipt-latest-id-path': {
    'http/receipts': [
      'answers the latest receipt and makes none; a client that has it need not fetch it again',
      'GET /receipt/latest/{id} 404 receiptNotFound › of a record that has none; one can then be made',
      `GET /receipt/latest/{id} 404 trustRecordNotFound › ${foreignRecord}`,
    ],
  },
  '4.3/post-replay-businesstransactionid-string-200': {
    'http/replay': [
      'POST /replay 200 › answers that the signature holds, and stores nothing',
      'it is the signature alone that is asked for: what a full verification finds besides does not matter',
      'POST /replay 404 noRecordToVerify › %j is no id, but it is there',
      'POST /replay 400 fieldRequired › %j',
    ],
  },
  '4.3/get-trust-records-id-path': {
    'http/reads': ['GET /trust-records/{id} 200 › answers the record that POST /execute answered', noIdOfAny],
  },
  '4.4/post-policies-validate-request-policyid': {
    'http/policies-validate': ['%j misses %s, and the first miss ends it'],
  },
  '4.4/post-policies-validate-it-does': {
    'http/policies-validate': [
      'a version that can be loaded; other members do not matter',
      'a version that an older release stored and this one cannot load',
    ],
  },
  '4.4/post-policies-validate-every-response': {
    'http/policies-validate': [
      'a version that can be loaded; other members do not matter',
      '%j misses %s, and the first miss ends it',
      'POST /policies/validate 404 policyNotFound › %j version %j',
      'a body over the limit, in the envelope of this route',
    ],
  },
  '4.4/post-policies-validate-200-loadable': {
    'http/policies-validate': [
      'a version that can be loaded; other members do not matter',
      'a version that is loaded and not approved',
    ],
  },
  '4.4/post-policies-validate-400-errors': {
    'http/policies-validate': ['%j misses %s, and the first miss ends it'],
  },
  '4.4/post-policies-validate-404-errors': {
    'http/policies-validate': ['POST /policies/validate 404 policyNotFound › %j version %j'],
  },
  '4.4/post-policies-validate-a-401': {
    'http/policies-validate': [
      'POST /policies/validate 401 authenticationRequired › in the envelope that all routes share',
    ],
  },
  '4.6/post-refusal-verify-post-audit': {
    'http/refusal-verify': [
      'POST /refusal/verify 200 › a rejection and a denial hold, without a key and with any',
    ],
    'http/audit': ['%s: the event is there when the %i is, signed and whole', '%s changed: not valid'],
    'http/reads': ['answers the Refusal Record, whole'],
    'http/export': ['answers whole records, newest first, as GET /trust-records/{id} does'],
    'http/documents': ['GET /handbook 200 › lists the chapters, and every one of them is there'],
    'http/policies': [
      'POST /policies/{name}/{version}/pending-changes 201 › a document of a new name, with what its author should look at',
    ],
    'http/governance': [
      'POST /policies/pending-changes/{id}/approve 200 › answers the change as approved, signed anew, with the step-up that approved it',
      'POST /policies/pending-changes/{id}/reject 200 › answers the change as rejected, signed anew, and nothing is in effect',
    ],
    'http/approvers': [
      'the key is in effect at once here, within a second elsewhere, and published under its own name only',
    ],
    'http/external-connectors': [
      'the registration is in effect under the id of its change, and a revocation ends it',
    ],
    'http/sandbox-evaluate': ['a transaction that would be executed, with the trace of every rule'],
    'http/sandbox-simulate': ['exactly the flips of mixed decisions, newest first, and nobody else’s'],
    'http/execution-intents': [
      'an execution that went well: released, finalized, with the authorization that its record holds',
      '%s: signed, audited, off the list, and final',
      'from a stored record that holds: %s, signed and audited',
    ],
  },
  '4.6/post-refusal-verify-and-post': {
    'http/conformance': [answered],
    'http/governance': [forHumans],
    'openapi/every-route': ['by a caller that is no human › $method $path answers 403'],
  },
}

const authentication: Readonly<Record<string, Proof>> = {
  '5/send-authorization-bearer-api-key': {
    'http/door': ['401 authenticationRequired › %s names the scheme', noKey],
  },
  '5/open-routes-no-credential': {
    'http/door': [anyKey],
    'http/conformance': [
      answered,
      'nothing else of the route table is, but for documents that decisions open',
    ],
  },
  '5/get-health': {
    'http/conformance': [answered],
    'http/system': ['GET /health 200 › is UP, without a key'],
  },
  '5/get-ready': {
    'http/conformance': [answered],
    'http/system': ['GET /ready 200 › is READY, without a key'],
  },
  '5/get-openapi.yaml': {
    'http/conformance': [answered],
    'http/documents': ['answers the whole document, which caches may keep for an hour'],
  },
  '5/get-documentation': {
    'http/conformance': [answered],
    'http/documents': ['GET /documentation 200 › is a page under a strict policy'],
  },
  '5/get-api-manifest.json': {
    'http/conformance': [answered],
    'http/documents': ['every place that it names is there, without a key'],
  },
  '5/post-refusal-verify': {
    'http/conformance': [answered],
    'http/refusal-verify': ['a rejection and a denial hold, without a key and with any'],
  },
  '5/post-audit-verify': {
    'http/conformance': [answered],
    'http/audit': ['%s: the event is there when the %i is, signed and whole'],
  },
  '5/get-keys-keyid': {
    'http/conformance': [answered],
    'http/keys': [
      'answers the key of every public file, historical ones included, with exactly the members of interface §2.7',
    ],
  },
  '5/get-.well-known-jwks.json': {
    'http/conformance': [answered],
    'http/keys': ['lists every published key as GET /keys/{keyId} answers it'],
  },
  '5/a-missing-malformed-or-unknown': {
    'http/door': [
      noKey,
      '401 authenticationRequired › %s',
      'comes before anything that the body could be refused for',
    ],
    'http/conformance': [
      'a rejected caller is told so by its key, a rejected transaction by its policy: neither helps the other',
    ],
  },
  '5/keys-are-issued-by-an': {
    cli: ['prints the raw key and its entry, which holds only the hash, and stores nothing'],
    config: ['a caller › refuses %s'],
    'http/secrets': ['no secret stands in the %s'],
    'conformance/authenticate': [
      '%s is compared as a whole with every known hash, by timingSafeEqual, also after a match',
    ],
    'http/conformance': ['no route issues, lists, changes or removes a caller key'],
  },
  '5/each-key-resolves-to-a': {
    'http/system': ['tells the effective scope, and nothing else of the entry'],
    'http/execute-refused': [
      'a principal that the caller may not speak for, and nothing is stored',
      'a capability that the caller does not have, and nothing is stored',
    ],
  },
  '5/when-service-auth-disabled-true': {
    'http/auth-disabled': [
      'executes whatever principal and capability, as `anonymous` in everything stored and signed',
      'a warning is logged at the start',
      'there is none, whatever key comes along',
      'no limiter is mounted',
      'the service refuses to start so in production',
    ],
  },
  '5/authentication-proves-only-that-a': {
    'http/conformance': [
      'a rejected caller is told so by its key, a rejected transaction by its policy: neither helps the other',
    ],
    'http/approvals': [
      unapproved,
      'carries the approval in its record, which verifies here and is receipted',
      'never counts the approval of whoever proposes it: neither its principal nor its caller',
    ],
    'http/governance': ['403 stepUpInvalid › any, from a human whose key has no step-up key'],
  },
  '5/whether-get-reference-and-get': {
    'http/door': [anyKey],
    'http/documents': ['every place that it names is there, without a key'],
  },
}

const errors: Readonly<Record<string, Proof>> = {
  '7/every-non-2xx-response-is': { 'http/conformance': [oneFailureShape] },
  '7/a-code-string-is-added': {
    'http/conformance': [
      'has a code only where it came from the run of a transaction or from the row that names one',
    ],
    errors: ['the body is the envelope of interface §7: a string, and a code only where there is one'],
  },
  '7/branch-on-http-status-first': {
    'http/conformance': ['keeps its status and code where its text varies'],
  },
  '7/exception-all-responses-of-post': {
    'http/policies-validate': [
      '%j misses %s, and the first miss ends it',
      'POST /policies/validate 401 authenticationRequired › in the envelope that all routes share',
      'a body over the limit, in the envelope of this route',
    ],
  },
  '7/400-none-businesstransactionid-must-be': {
    'http/execute-bodies': ['POST %s: version 7, nil, text, nothing'],
    'http/verify': ['POST /verify 400 invalidBusinessTransactionId › %j'],
    'http/receipts': ['POST /receipt 400 invalidBusinessTransactionId › %j'],
  },
  '7/400-none-businesstransactionid-is-required': {
    'http/verify': ['POST /verify 400 fieldRequired › %s'],
    'http/receipts': ['POST /receipt 400 fieldRequired › %j'],
    'http/replay': ['POST /replay 400 fieldRequired › %j'],
  },
  '7/400-none-authorization.authorityid-must-match': {
    'http/execute-bodies': ['POST %s: the chain of ids must hold'],
  },
  '7/400-404-n-a-valid': {
    'http/policies-validate': [
      '%j misses %s, and the first miss ends it',
      'POST /policies/validate 404 policyNotFound › %j version %j',
    ],
  },
  '7/401-none-authentication-required-see': { 'http/door': [noKey] },
  '7/403-non-human-caller-denied': {
    'http/governance': [forHumans],
    'openapi/every-route': ['by a caller that is no human › $method $path answers 403'],
    'http/audit': ['GET /audit/events 403 nonHumanCaller › before the query is looked at'],
  },
  '7/403-policy-denied-message-says': {
    'http/approvals': [usedUp, oneOfForty],
    'http/execute-refused': ['a declared signal that is not what the intent says, with a Refusal Record'],
    'http/crm-deal': ['%s: denied, and nothing is written'],
  },
  '7/403-none-the-action-is': {
    'http/execute-refused': ['a capability that the caller does not have, and nothing is stored'],
  },
  '7/404-none-policy-name-version': {
    'http/execute-refused': ['%j version %j; the transaction is stored and its id is used'],
    'http/conformance': [inOrder],
  },
  '7/404-none-business-transaction-not': { 'http/reads': [noIdOfAny] },
  '7/404-verification-failed-execution-trust': {
    'http/verify': [`POST /verify 404 noRecordToVerify › ${foreignRecord}, and not verified`],
    'http/receipts': [`POST /receipt 404 noRecordToVerify › ${foreignRecord}, and gets no receipt`],
    'http/replay': [`POST /replay 404 noRecordToVerify › ${foreignRecord}`],
  },
  '7/404-none-execution-trust-record': {
    'http/verify': [`GET /verification/{id} 404 trustRecordNotFound › ${foreignRecord}`],
    'http/receipts': [`GET /receipt/latest/{id} 404 trustRecordNotFound › ${foreignRecord}`],
    'http/reads': [noIdOfAny],
  },
  '7/404-none-verification-not-found': {
    'http/verify': [
      'GET /verification/{id} 404 verificationNotFound › of a record that has none; one can then be made',
    ],
  },
  '7/404-none-receipt-not-found': {
    'http/receipts': [
      'GET /receipt/latest/{id} 404 receiptNotFound › of a record that has none; one can then be made',
    ],
  },
  '7/404-none-no-authenticated-caller': { 'http/auth-disabled': ['there is none, whatever key comes along'] },
  '7/409-none-business-transaction-id': { 'http/execute-refused': [duplicates] },
  '7/409-receipt-generation-failed-message': {
    'http/receipts': ['POST /receipt 409 receiptNotVerified › a record that no verification stands for'],
    'http/verify': ['is FAILED and says so; no receipt until it is restored; what was found before stays'],
  },
  '7/429-rate-limited-rate-limit': { 'http/limits': [oneBudget, healthBudget] },
  '7/500-runtime-error-execution-rejected': {
    'http/execute-refused': ['by %s, with a Refusal Record'],
    'http/conformance': [inOrder],
  },
  '7/500-none-internal-server-error': {
    'http/execute-bodies': [
      'POST /execute 500 internal › without %s; the log line names it',
      'each gets its documented answer while a good one beside each is executed',
    ],
  },
  '7/500-varies-see-below-no': {
    'http/execute-refused': ['an approved action that nothing carries out; only the transaction is stored'],
    'http/conformance': [inOrder],
    'connectors/hubspot': ['without the token nothing is registered'],
  },
  '7/503-none-status-not-ready': {
    'http/system': [
      'while there is no execution-intents table; GET /health is not concerned',
      'while there is no database, and again READY with one',
    ],
  },
  '7/no-connector-case-the-status': {
    'http/execute-refused': ['an approved action that nothing carries out; only the transaction is stored'],
  },
  '7/the-body-of-the-403': {
    'http/execute-refused': ['a capability that the caller does not have, and nothing is stored'],
  },
  '7/a-rejected-request-of-the': { 'http/limits': [notLookedInto] },
  '7/a-direct-caller-of-the': {
    gateway: ['NONCE_ALREADY_CONSUMED › a replay, however it is wrapped'],
    'http/execute-refused': [duplicates],
  },
  '7-idempotency/there-is-no-idempotency-key': {
    'http/conformance': [
      'an Idempotency-Key means nothing: one id with two is a duplicate, two ids with one are both executed',
    ],
  },
  '7-idempotency/businesstransactionid-is-the-idempotency-mechanism': {
    'http/execute-duplicates': ['execute once, with a %s'],
    'http/execute-refused': [duplicates],
  },
  '7-idempotency/callers-should-derive-the-id': {
    'http/conformance': [
      'an id derived from a key of the caller is answered 409 when it comes again, and leads to the first result',
    ],
  },
  '7-idempotency/there-is-no-opt-out': {
    'http/conformance': ['no header, query or member of the body lets an id be used again'],
  },
  '7-idempotency/authorization-nonces-and-approval-nonces': {
    gateway: ['from other processes, too, at the same time and after a restart'],
    'http/execute-duplicates': ['execute once, with a %s'],
    'http/approvals': [oneOfForty, 'the same approval again, and its nonce under another id'],
    'http/governance': ['403 stepUpInvalid › one whose nonce was used on another change'],
  },
}

const limits: Readonly<Record<string, Proof>> = {
  '8/execute-limit-post-execute-per': {
    'http/limits': [
      oneBudget,
      'another caller has a budget of its own; bad bodies count, requests without a key do not',
    ],
    'http/auth-disabled': ['no limiter is mounted'],
  },
  '8/health-limit-get-health-get': {
    'http/limits': [healthBudget, 'a key changes nothing: it is the address that counts'],
    config: ['without any variable the embedded service is configured with the defaults of decisions §1'],
  },
  '8/a-request-over-a-limit': { 'http/limits': [oneBudget, healthBudget] },
  '8/by-default-the-counters-are': {
    'http/conformance': [
      'without DATABASE_URL each process counts for itself: two let twice the number through',
    ],
  },
  '8/when-database-url-is-configured': {
    'http/shared-limits': [
      'a caller has one budget, whichever it asks, one after the other',
      'a client address has one budget, exact within the leases of the others',
      'a rolling restart gives nobody a new budget',
    ],
    'door/shared-limit': ['%i a minute, in turns until each is refused'],
  },
  '8/numeric-default-values-of-both': {
    config: ['without any variable the embedded service is configured with the defaults of decisions §1'],
  },
  '8/maximum-request-body-size-not': {
    'http/door': [
      '413 payloadTooLarge › POST %s over MAX_BODY_BYTES',
      '413 payloadTooLarge › not at MAX_BODY_BYTES',
    ],
  },
  '8/default-and-maximum-values-of': {
    'http/reads': [
      'answers 25 a page unless told otherwise, newest first',
      'a page past the end is empty, also the last that may be asked for',
      'GET /transactions 400 invalidPage › page=%s',
      'GET /transactions 400 invalidPageSize › pageSize=%s',
    ],
  },
}

const webhookDeliveries = [
  'POST /webhooks/{provider} 200 › %s is stored byte for byte and read once, for the audit',
  'POST /webhooks/{provider} 200 › the same id again is acknowledged, whatever it brings, and nothing is stored',
]

const webhooks: Readonly<Record<string, Proof>> = {
  '4.5/a-post-route-that-receives': { 'http/webhooks': webhookDeliveries },
  '6/inbound-delivery-from-a-payment': { 'http/webhooks': webhookDeliveries },
  '6/header-x-provider-signature-required': {
    'http/webhooks': [
      'POST /webhooks/{provider} 200 › a rotated secret keeps working beside the new one',
      '401 missingSignature › without the header, %j',
      '401 invalidSignature › that is %s',
    ],
  },
  '6/header-x-provider-event-id': {
    'http/webhooks': [
      '401 invalidSignature › comes before a missing event id, and is audited without the signature',
      '400 missingEventId › %j',
    ],
  },
  '6/body-the-provider-s-envelope': {
    'http/webhooks': [
      'POST /webhooks/{provider} 200 › %s is stored byte for byte and read once, for the audit',
      'POST /webhooks/{provider} 200 › a body that is %s is stored as it is and processed',
    ],
  },
  '6/response-200-status-accepted-acknowledged': {
    'http/webhooks': webhookDeliveries,
    'crash/webhooks': [
      'after each of ${KILLS} kills every acknowledged delivery is there and is processed once',
    ],
  },
  '6/the-status-code-for-a': {
    'http/webhooks': ['401 invalidSignature › that is %s', '400 missingEventId › %j'],
  },
  '6/the-connector-for-this-provider': {
    'http/webhooks': ['404 pathNotFound › a provider without a secret is no path of the service: %s'],
  },
  '6/events-emitted-by-the-service': {
    'http/webhooks': [
      'the service sends no events to others: its document knows no webhooks and no callbacks',
    ],
  },
}

export const proofs: Readonly<Record<string, Proof>> = {
  ...system,
  ...execution,
  ...evidence,
  ...authentication,
  ...webhooks,
  ...errors,
  ...limits,
}

/** What does not exist yet, and why. A row that stands among the proofs too exists in part. */
export const later: Readonly<Record<string, string>> = {}
