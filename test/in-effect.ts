// Puts in effect what two humans would, by a change that nobody has signed.
import { randomUUID } from 'node:crypto'
import type { ChangeKindName } from '../src/formats/schemas/governance.ts'
import type { Sql } from '../src/store/postgres/sql.ts'
import { begin, type Act } from '../src/store/tables/authority.ts'

/** @returns the id of the change */
export async function storeInEffect(
  sql: Sql,
  kind: ChangeKindName,
  proposed: object,
  act: Partial<Act> = {},
): Promise<string> {
  const changeId = randomUUID()
  const by = { changeId, by: 'test', at: new Date().toISOString(), ...act }
  if (!(await begin(sql, kind, { ...by, proposed }))) throw new Error(`this ${kind} is in effect already`)
  return by.changeId
}
