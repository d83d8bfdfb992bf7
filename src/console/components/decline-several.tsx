// Declines several waiting requests with one reason. Each request is declined separately, so that each has its own signed end, and a request
// that is already over does not stop the others.
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../formats/text/text.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { post, problemText } from '../api.ts'
import { fieldOf } from '../forms.ts'
import { waitingChanged } from '../queue.ts'
import { Countdown, Problem } from './basic.tsx'
import { DeclineReason, DialogFoot, IsFinal } from './decide.tsx'
import { CallerLink } from './names.tsx'
import { NoteLine, WhyLook } from './requests.tsx'
import { Amount, ListedLine } from './what.tsx'

/** The result for one request; no `problem`: the request is declined. */
type Outcome = { readonly asked: ApprovalRequest; readonly problem: string | undefined }

/** @param waiting the requests that the human could sign, and may therefore decline */
export function DeclineSeveral({ waiting }: { readonly waiting: readonly ApprovalRequest[] }) {
  const [isOpen, setOpen] = useState(false)
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  const failed = outcomes.filter(({ problem }) => problem !== undefined)
  return (
    <>
      <div class="actions">
        {waiting.length > 1 && (
          <button type="button" onClick={() => setOpen(true)}>
            Decline several…
          </button>
        )}
        <p role="status">
          {outcomes.length > 0 && `${counted(outcomes.length - failed.length, 'request')} declined.`}
        </p>
      </div>
      {failed.map(({ asked, problem }) => (
        <Problem key={asked.request.requestId} text={`${asked.request.target}: ${problem}`} />
      ))}
      {isOpen && (
        <Choose
          waiting={waiting}
          onDone={() => setOpen(false)}
          onDeclined={(came) => {
            setOutcomes(came)
            waitingChanged()
          }}
        />
      )}
    </>
  )
}

function Choose({
  waiting,
  onDone,
  onDeclined,
}: {
  readonly waiting: readonly ApprovalRequest[]
  readonly onDone: () => void
  readonly onDeclined: (outcomes: readonly Outcome[]) => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  // The requests at the time of opening: a new request must not move the row that somebody is about to choose. Details of each may come later.
  const known = new Map(waiting.map((one) => [one.request.requestId, one]))
  const offered = useRef(waiting).current.map((one) => known.get(one.request.requestId) ?? one)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [busy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const choose = (id: string, isChosen: boolean) =>
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((one) => one !== id)))
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const reason = fieldOf(event.currentTarget, 'reason')
    setBusy(true)
    const outcomes: Outcome[] = []
    for (const asked of offered.filter(({ request }) => chosen.has(request.requestId)))
      outcomes.push({ asked, problem: await declineOne(asked, reason) })
    dialog.current?.close()
    onDeclined(outcomes)
  }
  return (
    <dialog ref={dialog} onClose={onDone} aria-labelledby="declining">
      <h2 id="declining">Decline several requests</h2>
      <form onSubmit={(event) => void submit(event)}>
        <ul class="plain choices" tabIndex={0} aria-label="Requests that wait">
          {offered.map((asked) => (
            <li key={asked.request.requestId}>
              <label class="check">
                <input
                  type="checkbox"
                  checked={chosen.has(asked.request.requestId)}
                  onChange={({ currentTarget }) => choose(asked.request.requestId, currentTarget.checked)}
                />
                <span class="choice">
                  <span>
                    <ListedLine of={asked.request} />{' '}
                    <strong class="amount">
                      <Amount of={asked.request} />
                    </strong>
                  </span>
                  <NoteLine of={asked} />
                  <span class="quiet">
                    <CallerLink id={asked.request.requestedBy} apart />, <Countdown to={asked.expiresAt} />
                  </span>
                  <span>
                    <WhyLook of={asked} />
                  </span>
                </span>
              </label>
            </li>
          ))}
        </ul>
        <DeclineReason />
        <IsFinal each />
        <DialogFoot
          act={`Decline ${counted(chosen.size, 'request')}`}
          disabled={busy || chosen.size === 0}
          onBack={() => dialog.current?.close()}
        />
      </form>
    </dialog>
  )
}

async function declineOne({ request }: ApprovalRequest, reason: string): Promise<string | undefined> {
  try {
    await post(`/approval-requests/${request.requestId}/decline`, { reason })
    return undefined
  } catch (error) {
    return problemText(error)
  }
}
