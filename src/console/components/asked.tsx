// An approval request as its signer must see it, in the console as in the offline signer.
import { REASON_MAX } from '../../formats/schemas/approval-reason.ts'
import { printableJson } from '../../formats/text/printable.ts'
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { Hash, Members, Said, Unfolded } from './basic.tsx'
import { Qr } from './qr.tsx'

/** Shows the requester and the requested action. */
export function Wanted({ by: request }: { readonly by: ApprovalRequestContent }) {
  return (
    <>
      <p class="sentence">
        <Said text={request.requestedBy} /> asks to do <Said text={request.capability} /> on{' '}
        <Said text={request.target} />
        {request.principalId === request.requestedBy ? null : (
          <>
            , in the name of <Said text={request.principalId} />
          </>
        )}
        .
      </p>
      <div class="wanted">
        <Members of={request.parameters} />
      </div>
    </>
  )
}

/** The reason of the human who signs; their text is signed with the rest. */
export function ReasonField() {
  return (
    <label>
      Why you approve, for later readers (optional)
      <textarea name="reason" maxLength={REASON_MAX} rows={2} autocomplete="off" />
    </label>
  )
}

/** The reason that an approver signed; nothing where there is none. */
export function Because({ reason }: { readonly reason: string | undefined }) {
  return reason === undefined ? null : (
    <>
      {' '}
      because: <Said text={reason} />
    </>
  )
}

/** Every member that a signature covers, the bytes, and their hash as the page computed it. */
export function Covered({
  request,
  bytes,
  hash,
}: {
  readonly request: ApprovalRequestContent
  readonly bytes: string
  readonly hash: string
}) {
  return (
    <>
      <Members of={request} />
      <details>
        <summary>Canonical bytes (RFC 8785)</summary>
        <pre class="bytes" tabIndex={0}>
          {printableJson(bytes)}
        </pre>
      </details>
      <Unfolded
        summary="QR code of these bytes"
        of={() => <Qr text={bytes} label="QR code of the request’s canonical bytes" />}
      />
      <p>
        Their SHA-256, computed by this page: <Hash value={hash} whole />
      </p>
    </>
  )
}
