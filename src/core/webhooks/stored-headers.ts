// The headers of a delivery that are stored beside its body, for rules and for people who inspect the delivery.

const BYTES_MAX = 8_192
/** Names of headers that let a reader act as somebody else, such as `authorization`, `cookie`, `x-api-key` and `x-gitlab-token`. */
const CREDENTIAL = /(?:^|[-_])(?:authorization|auth|cookie|token|secret|password|api[-_]?key)$/

/**
 * @param lines name in lower case and value of each header, in the order they came; the values of a repeated header are joined by commas
 * @param options.signatures names of headers that are left out
 * @param options.first names of headers that are kept before all others
 * @returns canonical JSON (RFC 8785) of an object, at most 8 KiB; headers that no longer fit are left out as a whole
 */
export function storedHeaders(
  lines: readonly (readonly [name: string, value: string])[],
  { signatures, first }: { readonly signatures: readonly string[]; readonly first: readonly string[] },
): string {
  const values = new Map<string, string>()
  for (const name of first) values.set(name, '')
  for (const [name, value] of lines) {
    if (signatures.includes(name) || (CREDENTIAL.test(name) && !first.includes(name))) continue
    const before = values.get(name)
    values.set(name, before === undefined || before === '' ? value : `${before}, ${value}`)
  }
  let bytes = 2
  const kept: [string, string][] = []
  for (const [name, value] of values) {
    if (value === '') continue
    const member = `${JSON.stringify(name)}:${JSON.stringify(value.toWellFormed())}`
    bytes += Buffer.byteLength(member) + 1
    if (bytes > BYTES_MAX) break
    kept.push([name, member])
  }
  const sorted = kept.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, member]) => member)
  return `{${sorted.join(',')}}`
}
