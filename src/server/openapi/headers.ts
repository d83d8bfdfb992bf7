// The headers of replies (decisions §2, §3, §5, §11). Each is described once, as a component that responses refer to.

const text = (pattern?: string) => ({ type: 'string', ...(pattern === undefined ? {} : { pattern }) })

export const headers: Readonly<Record<string, { description: string; schema: object; example: string }>> = {
  'X-Request-Id': {
    description:
      "The request's id if it is a UUID, otherwise an id from the service. The log line has the same id.",
    schema: text('^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$'),
    example: 'e3f0d9a2-6f0b-4b57-9c34-90f6a1d9a0c1',
  },
  'X-Content-Type-Options': {
    description: 'Browsers must not guess the type.',
    schema: { type: 'string', enum: ['nosniff'] },
    example: 'nosniff',
  },
  'RateLimit-Policy': {
    description:
      'The budget: its name, its quota `q` and its window `w` in seconds (IETF draft 11); where two apply, both. `compute` and `administration` count milliseconds of thread time.',
    schema: text('^"[a-z]+";q=\\d+;w=60(, "[a-z]+";q=\\d+;w=60)?$'),
    example: '"execute";q=600;w=60',
  },
  RateLimit: {
    description: 'The remaining budget `r`, and the seconds `t` until it is full again.',
    schema: text('^"[a-z]+";r=\\d+;t=\\d+(, "[a-z]+";r=\\d+;t=\\d+)?$'),
    example: '"execute";r=599;t=1',
  },
  'Retry-After': {
    description: 'Seconds to wait before asking again.',
    schema: text('^[1-9]\\d*$'),
    example: '1',
  },
  ETag: {
    description: 'A strong ETag: the hash of the bytes of the body.',
    schema: text('^"[0-9a-f]{64}"$'),
    example: '"19a2b2314f3a48909ebfc609d36b0fef23b356319ff838a6c5cbdfdbdce39abd"',
  },
  'Cache-Control': {
    description: 'Who may cache the reply, and for how long.',
    schema: text(),
    example: 'private, no-cache',
  },
  Link: {
    description:
      'Related resources: the next page of a list (`rel="next"`, absent on the last one), or the signed Refusal Record of an execution that its policy refused (`rel="refusal"`) and, where approvals could lift it, where to ask for them (`rel="approval-request"`); or the route that says everything that is wrong with a transaction (`rel="help"`).',
    schema: text(
      '^<[^>]+>; rel="(next|refusal|approval-request|help)"(, </approval-requests>; rel="approval-request")?$',
    ),
    example: '</trust-records?pageSize=25&cursor=…>; rel="next"',
  },
  Location: {
    description: 'The path of the existing resource.',
    schema: text('^/(trust-records|approval-requests)/'),
    example: '/trust-records/938ec07b-1041-456a-8ca2-c3b3567616ef',
  },
  'Server-Timing': {
    description:
      'For a request with `Prefer: server-timing`: the milliseconds that each stage took for its batch.',
    schema: text('^queue;dur=\\d+\\.\\d+, .*, total;dur=\\d+\\.\\d+$'),
    example: 'queue;dur=0.412, validate;dur=0.301, decide;dur=0.287, admit;dur=1.904, total;dur=6.120',
  },
  Vary: {
    description: 'The request headers that the format of the body depends on.',
    schema: { type: 'string', enum: ['Accept', 'Accept-Encoding'] },
    example: 'Accept',
  },
  'Content-Encoding': {
    description: 'How the body is compressed, for a client that accepts it.',
    schema: { type: 'string', enum: ['br', 'gzip'] },
    example: 'gzip',
  },
  'WWW-Authenticate': {
    description: 'The required scheme (RFC 6750); DPoP (RFC 9449) for a token that is bound to a key.',
    schema: text('^(Bearer|DPoP) '),
    example: 'Bearer realm="countersign"',
  },
  'DPoP-Nonce': {
    description:
      'The nonce for the next proof (RFC 9449), of an issuer with `dpop.nonces`; also in replies to requests that are accepted.',
    schema: text('^[\\w-]{22}$'),
    example: 'q0gV3xkS8mZ1nT5cYb2uLw',
  },
  'Content-Security-Policy': {
    description: 'No content from other origins, no inline scripts.',
    schema: text("^default-src 'none'"),
    example: "default-src 'none'; script-src 'self'",
  },
}
