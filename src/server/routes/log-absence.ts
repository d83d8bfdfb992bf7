// Proofs that an id is not in the evidence log, or how often it is there: "never executed", "used once".
import { Type } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import { failures, type Failure } from '../../core/errors/errors.ts'
import { idKinds, isIdKind, type IdKind } from '../../formats/log/ids.ts'
import { LogAbsence } from '../../formats/schemas/log.ts'
import { isUuid, NonEmptyText } from '../../formats/schemas/primitives.ts'
import { isClaimed, readTransaction } from '../../store/tables/business-transactions.ts'
import { readAbsence } from '../../core/absence/read-absence.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { inSnapshot } from '../../store/postgres/transaction.ts'
import { logRoute, newestCheckpoint } from './log.ts'
import { get, json, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Logs } from '../service.ts'

const hash = 'Sx2NcfFMTPSZ3yxYkiJx3AAgBGzVbJ3mt7c/tdvNKhU='

export const logAbsence = [
  {
    ...logRoute,
    ...get,
    path: '/log/absence/{kind}/{id}',
    alsoAt: '/log/{log}/absence/{kind}/{id}',
    operationId: 'getLogAbsence',
    summary: 'Proof that an id is not in the log, or how often it is',
    description:
      'The proof covers the entries up to `coveredTo`; newer entries, at most those of an hour, are not covered yet. `countersign log absent` fetches and checks the proof. For humans and auditors; any other caller may ask for an authorization, a receipt or a refusal of its own id or of an unused id.',
    mounted: (params, config) => logRoute.mounted(params, config) && isIdKind(params['kind'] ?? ''),
    params: {
      kind: {
        schema: Type.Enum(Object.keys(idKinds)),
        description:
          'The kind of artifact that would have the id. Without an authorization nothing was executed.',
        example: 'authorization',
      },
      id: {
        schema: NonEmptyText,
        description:
          'The businessTransactionId for an authorization, a receipt and a refusal; for other kinds the id of the artifact.',
        example: '0b8f2c1e-6f0a-4d8e-9a55-2f7a3c1d9e40',
      },
    },
    answers: {
      200: {
        description: 'The proof.',
        schema: LogAbsence,
        example: {
          log: 'countersign.example.com/log/1',
          checkpoint: 'countersign.example.com/log/1\n…',
          kind: 'authorization',
          id: '0b8f2c1e-6f0a-4d8e-9a55-2f7a3c1d9e40',
          runs: [
            {
              level: 0,
              first: 0,
              end: 1,
              size: 1,
              entry: 'countersign/1 ids 8b7c9a61d6b6bc1cc1a1e2d4ee8a2a1e4f8b9a1f2f4c8e5d7a6b3c2d1e0f9a8b',
              index: 2,
              path: [hash],
              leaves: [{ hash, index: 0, position: 0, path: [] }],
            },
          ],
          coveredTo: 1,
        },
      },
    },
    failures: ['pathNotFound', 'invalidQuery', 'nonHumanCaller', 'idNotYours', 'noCheckpoint'],
    handle: absence,
  },
] as const satisfies readonly Route[]

async function absence({ params, caller }: RouteRequest, service: Logs): Promise<Answer | Failure> {
  const { pool } = service
  const { kind = '', id: given = '' } = params
  if (!isIdKind(kind)) return failures.pathNotFound()
  const id = idOf(kind, given)
  if (id === undefined)
    return failures.invalidQuery(`The id of ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} is a UUID.`)
  const refused = await whyRefused(pool, { kind, id, owner: readableOwner(caller) })
  if (refused !== undefined) return refused
  const checkpoint = await newestCheckpoint(params, service)
  if (checkpoint === undefined) return failures.noCheckpoint()
  return json(await inSnapshot(pool, (sql) => readAbsence(sql, { kind, id, checkpoint })))
}

/** The id in the form in which writers put it into the log. */
function idOf(kind: IdKind, given: string): string | undefined {
  if (kind === 'approval') return given
  return isUuid(given) ? given.toLowerCase() : undefined
}

/** The kinds that a caller may ask for that does not read everything. */
const OWN_KINDS: readonly IdKind[] = ['authorization', 'receipt', 'refusal']

/**
 * The answer differs for another caller's id and an unused id: no true answer could hide the difference, and the 409 of POST /execute shows it
 * too. The owner and the outcome of the other id stay hidden.
 */
async function whyRefused(
  sql: Sql,
  { kind, id, owner }: { kind: IdKind; id: string; owner: string | null },
): Promise<Failure | undefined> {
  if (owner === null) return undefined
  if (!OWN_KINDS.includes(kind)) return failures.nonHumanCaller()
  const isForeign = (await readTransaction(sql, id, owner)) === null && (await isClaimed(sql, id))
  return isForeign ? failures.idNotYours() : undefined
}
