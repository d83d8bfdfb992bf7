// A document held against its schema: what is wrong with it, one sentence for each place.

interface SchemaError {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

/**
 * @param errors TypeBox's errors
 * @param union what the one union of the schema takes: it fails once for each of its variants
 * @returns sentences by place, as in `rules.0.when`
 */
export function shapeSentences(
  errors: readonly SchemaError[],
  union: { readonly depth: number; readonly oneOf: string } = { depth: 0, oneOf: '' },
): Map<string, string> {
  // `boolean` repeats additionalProperties at the place of the unknown key.
  return new Map(errors.filter(({ keyword }) => keyword !== 'boolean').map((error) => sentence(error, union)))
}

/** A place and what is wrong there. */
function sentence(
  { keyword, schemaPath, instancePath, params, message }: SchemaError,
  union: { readonly depth: number; readonly oneOf: string },
): [string, string] {
  const place = instancePath.slice(1).replaceAll('/', '.') || 'the document'
  if (schemaPath.includes('/anyOf/') || keyword === 'anyOf') {
    const whole = place.split('.', union.depth).join('.')
    return [whole, `${whole} must be one of ${union.oneOf}.`]
  }
  if ('additionalProperties' in params)
    return [place, `${place} has an unknown key: ${(params.additionalProperties as string[]).join(', ')}.`]
  if ('allowedValues' in params)
    return [place, `${place} must be one of ${(params.allowedValues as unknown[]).join(', ')}.`]
  return [place, `${place} ${message}.`]
}
