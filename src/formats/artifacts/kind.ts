// The facts about one kind of artifact, from which writers, the evidence log, the feed, the tables, `countersign fsck` and the verifier are
// served. Each kind is a row in a file of its own, with the checks that are its own; `kinds.ts` lists the rows.
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
  /** The name that it is signed as (decisions §4); a webhook is not signed. */
  readonly name: SignedArtifact | 'webhook'
  /** The signed member that says when; the first that is there. Undefined: what humans sign is judged by when it was used. */
  readonly times?: readonly string[]
  readonly logged?: LoggedAs
  readonly stored?: StoredAs
  readonly evidence?: Evidence
  readonly feed?: Feed
}

export type Streams = { readonly [name in StreamName]?: string }

/** The execution that an artifact belongs to. */
export interface OfExecution {
  /** callerId. */
  readonly caller: string
  /** The body of the business transaction. */
  readonly transaction: string
  /** Whether its action was released: such an action exists, and one that was not may be any text. */
  readonly isReleased: boolean
}

interface LoggedAs {
  /** The kind of its entry in the log. */
  readonly kind: LoggedKind
  /** The hash that the artifact states of itself. Left out: that of the signed text. */
  readonly hashIn?: (signed: Members) => string
  /** The streams that it is counted in. Left out: none. @throws Error where it cannot be read */
  readonly counted?: (signed: Members, of: OfExecution) => Counted
  /** The event of the feed that its entry is. Left out: none, or as `mark` says. */
  readonly event?: EventType
  /** The event that its entry is, where that depends on the artifact, and the callerId that may follow it. */
  readonly mark?: (signed: Members) => { readonly event?: EventMark; readonly owner?: string }
}

interface Counted {
  /** Their names exist. */
  readonly streams: Streams
  /** It is counted in these if their names exist when it is logged: what was refused, approved or proposed may name any. */
  readonly named?: Streams
}

/** Its table, which keeps the signed text in `body` and the unsigned members in `seal`. */
interface StoredAs {
  readonly table: string
  /** The member that identifies it: a column. */
  readonly id: string
  /** The column that says when it was made, by its member. */
  readonly at: string
  /**
   * Its columns beside `body`, `seal` and the place in the log, by their members (src/store/postgres/rows.ts). A column that has the name of a
   * signed member repeats it, and `countersign fsck` compares them.
   */
  readonly columns?: {
    readonly [member: string]: 'uuid' | 'text' | 'text?' | 'timestamptz' | 'timestamptz?' | 'integer'
  }
  /** The column that names the caller whose it is: its own, or that of another table by a column that both have. Left out: it belongs to no caller. */
  readonly owner?: { readonly column: string; readonly of?: string; readonly by?: string }
  /** Its row is read with the transaction's. */
  readonly joined?: true
  /**
   * In evidence this member holds the signed members, and their signature, which is the seal, in `signature`. With `signature` the signed
   * members are next to it, and the seal is an object that has it. Left out: only the signature of a row can be checked alone.
   */
  readonly envelope?: string
  /** One of these audit events is written in the commit that makes it. */
  readonly audited?: readonly string[]
}

/** As a reader keeps it, and the verifier reads it. */
export interface Evidence {
  /** Members that this kind has and no other. */
  readonly marks: readonly string[]
  readonly idOf: (evidence: Members) => Json | undefined
  /** Never throws, and makes at least one check. */
  readonly check: (evidence: Members, crypto: Crypto) => Check[]
  /** Notes things that no check fails on and a reader should know. */
  readonly notesOn?: (evidence: Members, crypto: Crypto) => readonly string[]
  /** The members that no signature covers. */
  readonly members: ObjectShape
  /** What it is called, and what for readers who know none of its terms. */
  readonly title: string
  readonly plainTitle: string
  /** Never throws, and proves nothing by itself. */
  readonly account: (evidence: Members) => AccountText
  /** Sentences about what a pass does not prove. */
  readonly notProven: readonly string[]
}

/** Events of the feed that tell of an artifact. */
interface Feed {
  readonly types: readonly EventType[]
  /**
   * @param told the signed members, or those that the statement of the feed reads of them
   * @param of.id of the artifact
   * @param of.callerId whose it is, where its statement reads that
   */
  readonly details: (
    told: Told,
    of: { readonly id: string; readonly callerId: string | undefined },
  ) => EventDetails
}

export type Told = Readonly<Record<string, string | undefined>> & {
  readonly detail?: Readonly<Record<string, string>>
}

/** Members of an event (src/core/events/event.ts); those that are undefined have no place in it. */
export interface EventDetails {
  readonly occurredAt: string
  readonly [member: string]: string | undefined
}

/**
 * The parts of evidence that stands as `{<member>, signature}`: its signature is checked, and what is the kind's own.
 * @param of.problem where the signature is not valid
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
