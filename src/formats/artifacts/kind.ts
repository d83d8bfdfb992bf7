// The facts about one kind of artifact for writers, the evidence log, the feed, the tables, `countersign fsck` and the verifier. Each kind is
// a row in a file of its own, with the checks of this kind only; `kinds.ts` lists the rows.
import type { Json } from '../json/canonical.ts'
import { isMembers, type Members } from '../json/members.ts'
import type { StreamName } from '../log/entry.ts'
import type { LoggedKind } from '../log/ids.ts'
import type { EventMark, EventType } from '../schemas/event-types.ts'
import type { AccountText } from './account-text.ts'
import { canonicalText, type Check, type Crypto, type SignedArtifact } from './evidence.ts'
import { checked, closed, SIGNATURE, type ObjectShape } from './known-members.ts'
import { checkEd25519 } from './signatures.ts'

export interface ArtifactKind {
  /** The name under which the kind is signed (decisions §4); a webhook is not signed. */
  readonly name: SignedArtifact | 'webhook'
  /** The signed members that may state the time; the first that is present counts. Undefined: a human's signature is judged by its time of use. */
  readonly times?: readonly string[]
  readonly logged?: LoggedAs
  readonly stored?: StoredAs
  readonly evidence?: Evidence
  readonly feed?: Feed
}

export type Streams = { readonly [name in StreamName]?: string }

/** The execution that an artifact belongs to. */
export interface OfExecution {
  /** The callerId of the execution's caller. */
  readonly caller: string
  /** The body of the business transaction. */
  readonly transaction: string
  /** Whether its action was released: the capability of a released action exists, while that of another one may be any text. */
  readonly isReleased: boolean
}

interface LoggedAs {
  /** The kind of its entries in the log. */
  readonly kind: LoggedKind
  /** The hash that the artifact states of itself. Left out: the hash of the signed text. */
  readonly hashIn?: (signed: Members) => string
  /** The streams in which the artifact is counted. Left out: none. @throws Error when it cannot be read */
  readonly counted?: (signed: Members, of: OfExecution) => Counted
  /** The feed event of its entries. Left out: none, or as `mark` returns. */
  readonly event?: EventType
  /** The event of an entry, if it depends on the artifact, and the callerId that may follow it. */
  readonly mark?: (signed: Members) => { readonly event?: EventMark; readonly owner?: string }
}

interface Counted {
  /** Streams whose names exist. */
  readonly streams: Streams
  /** The artifact is counted in these only if their names exist when it is logged: refused, approved or proposed actions may name any. */
  readonly named?: Streams
}

/** The table of the kind, which keeps the signed text in `body` and the unsigned members in `seal`. */
interface StoredAs {
  readonly table: string
  /** The member that identifies an artifact; it is a column. */
  readonly id: string
  /** The column with the time of creation, by its member. */
  readonly at: string
  /**
   * The columns besides `body`, `seal` and the place in the log, by their members (src/store/postgres/rows.ts). A column with the name of a
   * signed member repeats it, and `countersign fsck` compares them.
   */
  readonly columns?: {
    readonly [member: string]: 'uuid' | 'text' | 'text?' | 'timestamptz' | 'timestamptz?' | 'integer'
  }
  /** The column that names the owner (caller): its own, or another table's by a column that both have. Left out: it belongs to no caller. */
  readonly owner?: { readonly column: string; readonly of?: string; readonly by?: string }
  /** Set if the row is read with the transaction's. */
  readonly joined?: true
  /**
   * The member of evidence that holds the signed members, with their signature, the seal, in `signature`. If it is `signature`, the signed
   * members are next to it, and the seal is an object that has it. Left out: only the signature of a row can be checked alone.
   */
  readonly envelope?: string
  /** One of these audit events is written in the commit that creates the artifact. */
  readonly audited?: readonly string[]
}

/** The kind as evidence that a reader saves and the verifier reads. */
export interface Evidence {
  /** Members that only this kind has. */
  readonly marks: readonly string[]
  readonly idOf: (evidence: Members) => Json | undefined
  /** Never throws, and makes at least one check. */
  readonly check: (evidence: Members, crypto: Crypto) => Check[]
  /** Notes facts that no check fails on and that a reader should know. */
  readonly notesOn?: (evidence: Members, crypto: Crypto) => readonly string[]
  /** The shape of the whole evidence. A member that it does not list, and that no signature covers, is unknown. */
  readonly members: ObjectShape
  /** The name of the kind, and its name for readers who know none of its terms. */
  readonly title: string
  readonly plainTitle: string
  /** Never throws, and proves nothing by itself. */
  readonly account: (evidence: Members) => AccountText
  /** Sentences about facts that a pass does not prove. */
  readonly notProven: readonly string[]
}

/** Events of the feed about an artifact. */
interface Feed {
  readonly types: readonly EventType[]
  /**
   * @param told the signed members, or those of them that the statement of the feed reads
   * @param of.id id of the artifact
   * @param of.callerId its owner, if its statement reads that
   */
  readonly details: (
    told: Told,
    of: { readonly id: string; readonly callerId: string | undefined },
  ) => EventDetails
}

export type Told = Readonly<Record<string, string | undefined>> & {
  readonly detail?: Readonly<Record<string, string>>
}

/** Members of an event (src/core/events/event.ts); undefined members are left out of it. */
export interface EventDetails {
  readonly occurredAt: string
  readonly [member: string]: string | undefined
}

/**
 * The parts of evidence in the form `{<member>, signature}`: the check of its signature, and the kind's own checks.
 * @param of.problem sentence for an invalid signature
 * @param of.own checks of the signed members, which may be of any type
 */
export function enveloped({
  artifact,
  member,
  id,
  problem,
  own = () => [],
}: {
  readonly artifact: SignedArtifact
  readonly member: string
  readonly id: string
  readonly problem: string
  readonly own?: (signed: Json | undefined, crypto: Crypto) => readonly Check[]
}): Pick<Evidence, 'marks' | 'idOf' | 'members' | 'check'> {
  return {
    marks: [member, 'signature'],
    idOf({ [member]: signed }) {
      return isMembers(signed) ? signed[id] : undefined
    },
    members: closed({ [member]: checked, signature: SIGNATURE }),
    check({ [member]: signed, signature }, crypto) {
      const text = isMembers(signed) ? canonicalText(signed) : undefined
      return [
        checkEd25519(`${member} signature`, problem, crypto, { artifact, text, signature }),
        ...own(signed, crypto),
      ]
    },
  }
}
