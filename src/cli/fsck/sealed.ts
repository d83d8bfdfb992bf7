// A table of signed artifacts: its columns follow from the row of their kind, and so do the rules that each of its rows must hold.
import type { Evidence, ArtifactKind } from '../../formats/artifacts/kind.ts'
import { mustHold } from '../../formats/artifacts/evidence.ts'
import { columnOf, type ColumnTypes } from '../../store/postgres/rows.ts'
import { lazyMembers, sameTime, type Signed } from './check.ts'
import type { Tools } from './tools.ts'

interface SealedKind extends ArtifactKind {
  readonly name: Exclude<ArtifactKind['name'], 'webhook'>
  readonly stored: NonNullable<ArtifactKind['stored']> & { readonly columns: ColumnTypes }
  readonly evidence: Evidence
}

/** The columns of a kind's table as a check selects them, with the key that findings name. */
export const columnsOf = <Kind extends SealedKind>({ stored }: Kind) => ({
  key: ['text', `c.${columnOf(stored.id)}`] as const,
  ...(stored.columns as Kind['stored']['columns']),
  body: 'text' as const,
  seal: 'text' as const,
})

/** A column: whether one of the kind's audit events was written in the commit that made the row. */
export const auditedWith = ({ stored: { id, at, audited = [] } }: SealedKind) =>
  [
    'boolean',
    `EXISTS (SELECT FROM audit_events AS e WHERE e.type IN (${audited.map((type) => `'${type}'`).join(', ')})
      AND e.occurred_at = c.${columnOf(at)} AND strpos(e.body, c.${columnOf(id)}::text) > 0)`,
  ] as const

/** Makes a row ready for the rules: its texts are parsed when a rule reads them. */
export function signedIn<Row extends { readonly body: string; readonly seal: string }>(
  row: Row,
  { stored: { table } }: SealedKind,
): Row & Signed {
  return {
    ...row,
    signed: lazyMembers(row.body, table),
    signature: lazyMembers(row.seal, table, 'seal'),
  }
}

/** Where the kind's evidence is more than its row, the signature alone is checked. */
export function verifies(
  { name, evidence, stored: { envelope } }: SealedKind,
  { signed, signature, body, seal }: Signed & { readonly body: string; readonly seal: string },
  { crypto }: Tools,
): boolean {
  if (envelope !== undefined)
    return mustHold(evidence.check({ [envelope]: signed(), signature: signature() }, crypto))
  return crypto.verifySignature(name, body, JSON.parse(seal) as Parameters<typeof crypto.verifySignature>[2])
}

/** Whether the columns repeat the signed members of their names. @param but columns that repeat none */
export function repeats({ stored }: SealedKind, row: Signed, but: readonly string[] = []): boolean {
  const signed = row.signed()
  return Object.entries(row)
    .filter(([name]) => Object.hasOwn(stored.columns, name) && !but.includes(name))
    .every(([name, column]: [string, unknown]) =>
      column instanceof Date ? sameTime(column, signed[name]) : column === signed[name],
    )
}
