// Content negotiation by the weights in a client's Accept headers (RFC 9110 §12.4.2, §12.5).

/** Content codings of a reply, the smallest first. */
export const codings = ['br', 'gzip', 'identity'] as const
export type Coding = (typeof codings)[number]

/** Below every weight that a client can write: a coding that it does not name is the last choice. */
const UNNAMED = 0.0001

/**
 * The coding that the client prefers; among equals the first one.
 *
 * @param acceptEncoding the header of a request (RFC 9110 §12.5.3); without it nothing is compressed
 * @param offered includes `identity`, which is also the answer to a client that accepts none of them
 */
export function preferredCoding<Offered extends Coding>(
  acceptEncoding: string | undefined,
  offered: readonly Offered[],
): Offered | 'identity' {
  const weights = weightsOf(acceptEncoding)
  const weightOf = (coding: Coding) =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? UNNAMED : 0)
  let preferred: Offered | 'identity' = 'identity'
  let highest = 0
  for (const coding of offered) {
    const weight = weightOf(coding)
    if (weight <= highest) continue
    highest = weight
    preferred = coding
  }
  return preferred
}

/**
 * @param accept the header of a request (RFC 9110 §12.5.1)
 * @returns whether it names `text/html` with a greater weight than JSON, as browsers do and API clients do not
 */
export function prefersHtml(accept: string | undefined): boolean {
  const weights = weightsOf(accept)
  const json = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0
  return (weights.get('text/html') ?? 0) > json
}

/** Reads the names in a list header, in lower case, and the weight of each; an unreadable weight is 0. */
function weightsOf(header: string | undefined): ReadonlyMap<string, number> {
  return new Map(
    (header ?? '').split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
      const q = parameters.find((parameter) => parameter.startsWith('q='))
      return [name, q === undefined ? 1 : weightIn(q.slice(2))] as const
    }),
  )
}

function weightIn(text: string): number {
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0
}
