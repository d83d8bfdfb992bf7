// How a human signs an approval request, and how they decline it.
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../formats/text/text.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { ApproverGroup } from '../../formats/schemas/approver-group.ts'
import type { Approver } from '../../formats/schemas/approver.ts'
import type { StandIn } from '../../formats/schemas/stand-in.ts'
import { ApiProblem, post, problemText, type Me } from '../api.ts'
import { fieldOf } from '../forms.ts'
import { ReasonField } from './asked.tsx'
import { useLoaded, useNow } from '../hooks.ts'
import { algorithmOfPem, approvalBy } from '../passkey.ts'
import type { Next } from '../queue.ts'
import { useSigning } from '../signing.ts'
import { groupsText } from '../unusual.ts'
import { Command, Copy, Panel, Problem, Said } from './basic.tsx'

interface Deciding {
  readonly asked: ApprovalRequest
  readonly me: Me
  readonly code: string
  /** The next waiting request. */
  readonly next: Next
  /** Called once the human has decided; goes to the next waiting request. */
  readonly onDecided: (how: 'Signed' | 'Declined' | 'Withdrawn') => Promise<void>
}

/** Whether the request lacks the signature of this human, who has not signed yet. */
export const maySign = ({ eligible }: ApprovalRequest, { approverId }: Me): boolean =>
  approverId !== null && eligible.includes(approverId)

/** Margin after an escalation: the reply with `eligible` may be as old as the service holds it (20 seconds). */
const ESCALATION_SEEN_MS = 60_000

interface Early {
  /** Undefined: not known yet. */
  readonly signsEarly: boolean | undefined
  readonly problem: string | undefined
}

/**
 * Whether this human counts for a missing signal through the group to which the request escalates later: `eligible` leaves its members out until
 * then, although their approvals count before. The service compares persons when it takes the approval; this function compares names.
 */
function useSignsEarly(asked: ApprovalRequest, me: Me): Early {
  const { ask, signals = [], eligible, approvals, request } = asked
  const { approverId } = me
  const now = useNow(10_000)
  const isLacked = signals.some(
    ({ from, quorum, approvedBy }) =>
      ask?.escalateTo !== undefined && from?.includes(ask.escalateTo) === true && approvedBy.length < quorum,
  )
  const mayBe =
    isLacked &&
    ask?.escalateAt !== undefined &&
    now < Date.parse(ask.escalateAt) + ESCALATION_SEEN_MS &&
    approverId !== null &&
    ![
      ...eligible,
      ...approvals.map((one) => one.approverId),
      request.requestedBy,
      request.principalId,
    ].includes(approverId)
  const groups = useLoaded<{ approverGroups: ApproverGroup[] }>(mayBe ? '/approver-groups' : undefined)
  const standIns = useLoaded<{ standIns: StandIn[] }>(mayBe ? '/stand-ins' : undefined)
  if (!mayBe) return { signsEarly: false, problem: undefined }
  if (groups.data === undefined || standIns.data === undefined)
    return { signsEarly: undefined, problem: groups.problem ?? standIns.problem }
  const away = standIns.data.standIns.filter(
    ({ from, until }) => Date.parse(from) <= now && now < Date.parse(until),
  )
  const members = groups.data.approverGroups.find(({ group }) => group === ask.escalateTo)?.members ?? []
  const signsEarly = members.some(
    (member) => (away.find((one) => one.for === member)?.by ?? member) === approverId,
  )
  return { signsEarly, problem: undefined }
}

export function Decide({ asked, me, code, next, onDecided }: Deciding) {
  const { requestId, requestedBy } = asked.request
  const [saying, setSaying] = useState<Saying>()
  const isOwn = requestedBy === me.callerId
  const hasSigned = asked.approvals.some(({ approverId }) => approverId === me.approverId)
  const { signsEarly, problem: notKnown } = useSignsEarly(asked, me)
  const mayDecide = signsEarly === true || maySign(asked, me)
  const {
    data,
    isAwaited,
    problem: unlisted,
  } = useLoaded<{ approvers: Approver[] }>(
    mayDecide && me.credentialHolderType === 'USER' ? '/approvers' : undefined,
  )
  const passkeys = (data?.approvers ?? []).filter(
    ({ approverId, passkey, revokedAt }) =>
      approverId === me.approverId &&
      revokedAt === undefined &&
      passkey?.origins.includes(location.origin) === true,
  )
  const { waits, done, problem, run } = useSigning()
  /** Signs the request that the page shows: the browser asks the human, and the passkey verifies their identity. */
  const sign = (event: SubmitEvent) => {
    event.preventDefault()
    const reason = fieldOf(event.currentTarget, 'reason')
    const { submitter } = event
    const own = passkeys.find(
      ({ keyId }) => submitter instanceof HTMLButtonElement && keyId === submitter.value,
    )
    if (own?.passkey === undefined) return
    const { approverId, keyId, publicKeyPem, passkey } = own
    const { rpId, credentialId } = passkey
    const by = { approverId, keyId, rpId, credentialId, algorithm: algorithmOfPem(publicKeyPem) }
    void run(async () => {
      await post('/approvals', await approvalBy(by, asked, reason))
      void onDecided('Signed')
    })
  }
  return (
    <Panel title="Decide" action={<Copy text={code} label="Copy the code" />}>
      {hasSigned ? (
        <Settled next={next}>
          You have signed. It counts for one execution by this caller, of exactly this.
        </Settled>
      ) : (
        <p>{wouldCount(asked, me, signsEarly)}</p>
      )}
      <form onSubmit={sign}>
        {!hasSigned && (isAwaited || passkeys.length > 0) && <ReasonField />}
        <div class="deciding">
          <p class="code">{code}</p>
          <div class="actions">
            {/* A button that appears late comes last, or has a reserved place: a hand on its way to one button must not hit another. */}
            {mayDecide && (
              <button type="button" onClick={() => setSaying('decline')}>
                Decline…
              </button>
            )}
            {isOwn && (
              <button type="button" onClick={() => setSaying('withdraw')}>
                Withdraw…
              </button>
            )}
            {next !== null && (
              <a
                class={`button ${next === undefined ? 'kept' : ''}`.trim()}
                href={next === undefined ? '#main' : `/console/requests/${next}`}
              >
                {hasSigned ? 'Next' : 'Skip'}
              </a>
            )}
            {!hasSigned && isAwaited && (
              <button type="button" class="primary" disabled>
                Sign with passkey…
              </button>
            )}
            {!hasSigned &&
              passkeys.map(({ keyId }) => (
                <button key={keyId} type="submit" class="primary" value={keyId} disabled={waits}>
                  Sign with passkey {keyId}…{next && <span class="minor"> and next</span>}
                </button>
              ))}
          </div>
          <Problem text={problem ?? unlisted ?? notKnown} />
        </div>
        {done && !hasSigned && <p role="status">Signed. The request changes in a moment.</p>}
      </form>
      <p class="quiet">
        Ask whoever runs <Said text={requestedBy} />, over another channel, for the action code that they see.
        It must be this one: their program computed it from what it sent, and this page from what you see.
      </p>
      {(mayDecide || hasSigned || isOwn) && (asked.notes ?? []).length < NOTES_MAX && (
        <p>
          <button type="button" onClick={() => setSaying('note')}>
            {isOwn ? 'Write a note…' : 'Ask back…'}
          </button>
        </p>
      )}
      {!hasSigned && !isAwaited && (
        <Elsewhere
          requestId={requestId}
          approverId={mayDecide ? me.approverId : null}
          open={passkeys.length === 0 && unlisted === undefined}
        />
      )}
      {mayDecide && data !== undefined && passkeys.length === 0 && (
        <p class="quiet">
          Or <a href="/console/passkey">make a passkey</a>, and sign here.
        </p>
      )}
      {saying !== undefined && (
        <Say
          requestId={requestId}
          what={saying}
          isOwn={isOwn}
          onSaid={() => {
            if (saying !== 'note') void onDecided(saying === 'decline' ? 'Declined' : 'Withdrawn')
          }}
          onDone={() => setSaying(undefined)}
        />
      )}
    </Panel>
  )
}

/** The effect that the signature of the logged-in human would have, in a sentence. */
function wouldCount(asked: ApprovalRequest, me: Me, signsEarly: boolean | undefined): string {
  if (me.approverId === null) return 'You cannot sign this request: your key names no approver.'
  if (signsEarly === undefined) return 'Whether your signature counts is being looked up.'
  if (signsEarly)
    return `The request was not escalated to you yet: group ${asked.ask?.escalateTo} is asked later, and your signature counts already. ${ofMissing(asked)}`
  if (!maySign(asked, me))
    return 'You cannot sign this request: your approval would not count for it, or it acts for you.'
  return ofMissing(asked)
}

/** The approvals that are still missing after one more signature that counts. */
function ofMissing(asked: ApprovalRequest): string {
  const what = 'It counts for one execution by this caller, of exactly this.'
  if (asked.missing === 0) return `Enough have signed; your signature is not needed. ${what}`
  if (asked.missing === 1) return `Your signature completes it. ${what}`
  const groups = groupsText(asked)
  const of = groups === '' ? '' : ` All that are missing: ${groups.slice(2)}.`
  return `After your signature, ${counted(asked.missing - 1, 'other approval')} will still be missing.${of} ${what}`
}

/** Moves the focus from the button of the decision, which is gone, to the result. */
export function Settled({ next, children }: { readonly next: Next; readonly children: string }) {
  const said = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (document.activeElement === document.body) said.current?.focus()
  }, [])
  return (
    <p role="status" tabIndex={-1} ref={said}>
      {children} {next === null && <a href="/console/inbox">Nothing else waits: to the inbox</a>}
    </p>
  )
}

/** Signing with a key in a file, on a machine or a saved page that this service does not control; the signature is delivered here. */
function Elsewhere({
  requestId,
  approverId,
  open,
}: {
  readonly requestId: string
  /** Null: the logged-in human cannot sign, but may deliver the approval of another human. */
  readonly approverId: string | null
  readonly open: boolean
}) {
  const { waits, done, problem, run } = useSigning()
  const deliver = (event: SubmitEvent) => {
    event.preventDefault()
    const text = fieldOf(event.currentTarget, 'approval')
    void run(async () => {
      let approval: unknown
      try {
        approval = JSON.parse(text)
      } catch {
        throw new ApiProblem(400, 'This is not the JSON text of an approval.')
      }
      return post('/approvals', approval)
    })
  }
  return (
    <>
      {approverId !== null && (
        <details open={open}>
          <summary>Sign on your own machine, with a key in a file</summary>
          <Command
            text={`bin/countersign approver sign-request ${requestId} --url ${location.origin} --api-key "$KEY" --key <your key>.pem --approver ${approverId} --key-id <key>`}
          />
          <p class="quiet">
            The command shows hash and action code too, and refuses a request that does not match them.
          </p>
          <p>
            Or in the <a href="/signer">offline signer</a>, a page that you save once:{' '}
            <a href={`/approval-requests/${requestId}`} download={`request-${requestId}.json`}>
              save the request
            </a>{' '}
            for it, or let it read the QR code.
          </p>
        </details>
      )}
      <details>
        <summary>Deliver a signature that was made elsewhere</summary>
        <form onSubmit={deliver}>
          <label>
            The approval, as the offline signer or the command made it
            <textarea name="approval" rows={5} required spellcheck={false} autocomplete="off" />
          </label>
          <button type="submit" disabled={waits}>
            Deliver
          </button>
          <Problem text={problem} />
          {done && <p role="status">Delivered. The request changes in a moment.</p>}
        </form>
      </details>
    </>
  )
}

/** The buttons at the end of a dialog: for the final act, and to go back. */
export function DialogFoot({
  act,
  disabled = false,
  onBack,
}: {
  readonly act: string
  readonly disabled?: boolean
  readonly onBack: () => void
}) {
  return (
    <div class="actions">
      <button type="submit" class="primary" disabled={disabled}>
        {act}
      </button>
      <button type="button" onClick={onBack}>
        Go back
      </button>
    </div>
  )
}

/** Names the approvals that end with the act, before the foot of the dialog. @param each whether there may be several requests */
export function IsFinal({ each = false }: { readonly each?: boolean }) {
  return (
    <p>
      This is final{each ? ' for each of them' : ''}: approvals that were given for{' '}
      {each ? 'it' : 'the request'} count no more.
    </p>
  )
}

export function DeclineReason() {
  const [isMissing, setMissing] = useState(false)
  return (
    <>
      <label>
        Why, for the caller and for later readers (required)
        <textarea
          name="reason"
          required
          maxLength={1000}
          rows={4}
          aria-describedby="reason-missing"
          onInvalid={(event) => {
            // Replaces the browser's own message, which is in the browser's language.
            event.preventDefault()
            setMissing(true)
            event.currentTarget.focus()
          }}
          onInput={({ currentTarget }) => {
            currentTarget.setCustomValidity(currentTarget.value.trim() === '' ? 'empty' : '')
            setMissing(false)
          }}
        />
      </label>
      <p id="reason-missing" class="problem" role="alert" hidden={!isMissing}>
        {isMissing && 'Say why you decline: the reason is signed, and the caller and later readers see it.'}
      </p>
    </>
  )
}

/** The most notes that the service takes; its schema states the same limit for other clients. */
const NOTES_MAX = 20

/** The ways in which a human answers a request without signing it. */
type Saying = 'decline' | 'withdraw' | 'note'

const WORDS = {
  decline: { title: 'Decline this request', act: 'Decline' },
  withdraw: { title: 'Withdraw this request', act: 'Withdraw' },
} as const

function Say({
  requestId,
  what,
  isOwn,
  onSaid,
  onDone,
}: {
  readonly requestId: string
  readonly what: Saying
  /** Whether the human made the request. */
  readonly isOwn: boolean
  readonly onSaid: () => void
  readonly onDone: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [problem, setProblem] = useState<string>()
  useEffect(() => dialog.current?.showModal(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget
    try {
      if (what === 'note')
        await post(`/approval-requests/${requestId}/notes`, { text: fieldOf(form, 'text') })
      else
        await post(
          `/approval-requests/${requestId}/${what}`,
          what === 'decline' ? { reason: fieldOf(form, 'reason') } : {},
        )
      dialog.current?.close()
      onSaid()
    } catch (error) {
      setProblem(problemText(error))
    }
  }
  const { title, act } =
    what === 'note'
      ? { title: isOwn ? 'Write to the approvers' : 'Ask the requester back', act: 'Write the note' }
      : WORDS[what]
  return (
    <dialog ref={dialog} onClose={onDone} aria-labelledby="saying">
      <h2 id="saying">{title}</h2>
      <form onSubmit={(event) => void submit(event)}>
        {what === 'decline' && <DeclineReason />}
        {what === 'note' ? (
          <>
            <label>
              The note, for the approvers and the requester
              <textarea name="text" required maxLength={1000} rows={4} />
            </label>
            <p>It is signed by the service and kept as evidence. The request stays open, and as it is.</p>
          </>
        ) : (
          <IsFinal />
        )}
        <Problem text={problem} />
        <DialogFoot act={act} onBack={() => dialog.current?.close()} />
      </form>
    </dialog>
  )
}
