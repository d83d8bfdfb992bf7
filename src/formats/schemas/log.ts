// The JSON answers of the routes of the evidence log.
import { Type } from 'typebox'
import type { StreamName } from '../log/entry.ts'
import { idKinds } from '../log/ids.ts'
import { Base64, closed, NonEmptyText, Timestamp } from './primitives.ts'

const LogOfService = Type.Object({
  origin: Type.String({ description: 'The name of the log, the first line of its checkpoints.' }),
  vkeys: Type.Array(Type.String(), {
    description:
      'The keys of the log, including keys that no longer sign, in the form of C2SP `signed-note`.',
  }),
  validFrom: Timestamp,
  validUntil: Type.Optional(Timestamp),
  maximumDelaySeconds: Type.Integer({
    description: 'After this time a checkpoint covers a signed artifact.',
  }),
  previous: Type.Optional(
    Type.String({
      description:
        'JSON text: how the previous log ended, and what it lost. The first entry, of kind `previous`, is its SHA-256.',
    }),
  ),
})

export const LogDescription = Type.Object({
  logs: Type.Array(LogOfService),
  witness: Type.Optional(
    Type.Object(
      { vkeys: Type.Array(Type.String()) },
      { description: 'If this service is a witness of other logs: the keys that it cosigns with.' },
    ),
  ),
})

export const LogConsistency = Type.Object({
  from: Type.Integer({ minimum: 1 }),
  to: Type.Integer({ minimum: 1 }),
  hashes: Type.Array(Type.String(), { description: 'RFC 9162 §2.1.4.1, 32 bytes each in Base64.' }),
})

const streamMembers = {
  caller: Type.Optional(NonEmptyText),
  capability: Type.Optional(NonEmptyText),
  policy: Type.Optional(NonEmptyText),
  approver: Type.Optional(NonEmptyText),
} satisfies Record<StreamName, unknown>

const OneStream = Type.Object(streamMembers, {
  additionalProperties: false,
  description: 'The name of exactly one caller, capability, policy or approver.',
})

const EntryNumber = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number, 1 or more',
})

export const CompletenessRequest = closed({
  stream: OneStream,
  from: Type.Optional(EntryNumber),
  to: Type.Optional(EntryNumber),
})

const Position = Type.Integer({ minimum: 0 })
const Path = Type.Array(Base64, { description: 'RFC 9162 §2.1.3.1, from the leaf up.' })

export const Completeness = Type.Object({
  log: Type.String({ description: 'The origin of the log.' }),
  checkpoint: Type.String({
    description: 'The newest checkpoint, a signed note that proves everything else.',
  }),
  stream: OneStream,
  tag: Type.String({ pattern: '^[0-9a-f]{16}$', description: 'The tag by which entries name the stream.' }),
  salt: Type.Optional(
    Type.String({
      description: 'Base64, for humans and auditors: the tag is computed from it and the name.',
    }),
  ),
  head: Type.Object(
    {
      n: EntryNumber,
      lastIndex: Position,
      position: Position,
      count: Type.Integer({ minimum: 1 }),
      path: Path,
    },
    {
      description:
        'How many entries the stream has and the index of the last, with its path in the tree of all heads.',
    },
  ),
  heads: Type.Object(
    { index: Position, path: Path },
    { description: 'The last entry under the checkpoint, which is the root of the tree of heads.' },
  ),
  entries: Type.Array(Type.Object({ index: Position, entry: Type.String(), path: Path }), {
    description: 'In the order of their numbers in the stream.',
  }),
})

const Index = Type.Integer({
  minimum: 0,
  description: 'The index of the first entry that the run covers, from 0.',
})

const IdRun = Type.Object({
  level: Type.Integer({ minimum: 0 }),
  first: Index,
  end: Type.Integer({ minimum: 1, description: 'The index after the last entry that the run covers.' }),
  size: Type.Integer({ minimum: 1, description: 'The number of ids in the run.' }),
  entry: Type.String({ description: 'The entry of kind `ids` that states the run.' }),
  index: Index,
  path: Path,
  leaves: Type.Array(
    Type.Object({
      hash: Base64,
      index: Index,
      position: Type.Integer({ minimum: 0, description: 'The position in the run.' }),
      path: Path,
    }),
    { description: 'Neighbours in the run: the one below the id, all leaves with the id, the one above.' },
  ),
})

export const LogAbsence = Type.Object({
  log: Type.String({ description: 'The origin of the log.' }),
  checkpoint: Type.String({ description: 'The signed note under which everything is proven.' }),
  kind: Type.Enum(Object.keys(idKinds)),
  id: Type.String(),
  runs: Type.Array(IdRun, { description: 'From the first entry of the log on, without gaps.' }),
  coveredTo: Type.Integer({
    minimum: 0,
    description: 'Newer entries, from this index on, are in no run yet: at most those of an hour.',
  }),
})
