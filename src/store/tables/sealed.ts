// Replies made of stored text: an artifact's signed members and the seal beside them, spliced and never rendered again.
// Text in, text out: a reader gets byte for byte the text that was signed (docs/design-notes.md "Evidence").
import type { ColumnTypes, RowOf } from '../postgres/rows.ts'
import type { ListedApproval } from './approvals.ts'
import { positionColumns } from './log-queue.ts'

/** An artifact as stored: two canonical JSON objects, the signed members and the unsigned ones. */
export interface Sealed {
  readonly body: string
  readonly seal: string
}

/** The columns of an artifact's row in its table, in their order. */
export function artifactColumns<const Columns extends ColumnTypes>({
  stored: { columns },
}: {
  readonly stored: { readonly columns: Columns }
}) {
  return { ...columns, body: 'text', seal: 'text', ...positionColumns } as const
}

/** The row of a sealed artifact: at most one of its kind for a transaction. */
export const sealedColumns = {
  businessTransactionId: 'uuid',
  callerId: 'text',
  createdAt: 'timestamptz',
  body: 'text',
  seal: 'text',
} as const
export type SealedRow = RowOf<typeof sealedColumns>

/** One object with the members of both. */
export function sealedText({ body, seal }: Sealed): string {
  return `${body.slice(0, -1)},${seal.slice(1)}`
}

/** A record with the lists that were appended to it. */
export interface WholeRecord extends Sealed {
  /** JSON texts, oldest first, with commas between them. */
  readonly verifications: string
  readonly receipts: string
  /** How many the record has, where its list was cut to the newest (decisions §12). */
  readonly verificationCount?: number
  readonly receiptCount?: number
  /** As the lists above; left out where no provider has confirmed anything of it. */
  readonly confirmations?: string
  readonly confirmationCount?: number
}

/** The Execution Trust Record of interface §2.2. Only a list that was cut has a count. */
export function trustRecordText(record: WholeRecord): string {
  const { verifications, receipts, confirmations, ...counted } = record
  const counts = (['verificationCount', 'receiptCount', 'confirmationCount'] as const)
    .map((name) => (counted[name] === undefined ? '' : `,"${name}":${counted[name]}`))
    .join('')
  const confirmed = confirmations === undefined ? '' : `,"confirmations":[${confirmations}]`
  const lists = `"verifications":[${verifications}],"receipts":[${receipts}]${confirmed}`
  return `${sealedText(record).slice(0, -1)},${lists}${counts}}`
}

/** A maker/checker change: the signed members, its signature, and beside them the advice, which is not signed. */
export function changeText({ body, seal, advice }: Sealed & { readonly advice: string }): string {
  return sealedText({ body, seal: sealedText({ body: advice, seal }) })
}

/** The signed members under a name of their own, and their signature beside them. */
export function signedText(name: 'event' | 'transition' | 'confirmation', { body, seal }: Sealed): string {
  return `{"${name}":${body},"signature":${seal}}`
}

/** The Approval of POST and GET /approvals: the signed text as it was delivered, and what became of it. */
export function approvalText({ approvalId, status, body, ...row }: ListedApproval): string {
  const { deliveredBy, deliveredAt, consumedBy, consumedAt } = row
  const used = consumedBy === null ? {} : { consumedBy, consumedAt }
  const rest = JSON.stringify({ deliveredBy, deliveredAt, ...used })
  return `${JSON.stringify({ approvalId, status }).slice(0, -1)},"approval":${body},${rest.slice(1)}`
}
