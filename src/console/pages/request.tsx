// One approval request, as an approver must see it before they sign.
import { useRef, useState } from 'preact/hooks'
import { actionCode } from '../../formats/approval-requests/action-code.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { counted } from '../../formats/text/text.ts'
import { get, store, type Me } from '../api.ts'
import { Because, Covered, Wanted } from '../components/asked.tsx'
import {
  Badge,
  Copy,
  Countdown,
  Detail,
  Empty,
  Members,
  NotLoaded,
  Panel,
  Problem,
  Said,
  Time,
} from '../components/basic.tsx'
import { CounterMisfit, useCounterMisfits } from '../components/counters.tsx'
import { Decide, Settled } from '../components/decide.tsx'
import { Judgement, Reasons, useJudgement } from '../components/judgement.tsx'
import { usePolicyOf } from '../components/policy.tsx'
import { Unusual } from '../components/similar.tsx'
import { lineOf } from '../../core/policy/shown.ts'
import { Line } from '../components/what.tsx'
import { sha256Hex } from '../hashing.ts'
import { useFollowed, useNow, useStore, useTitle } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { lookUpNext, useQueue, waitingChanged, type Place } from '../queue.ts'
import { oneLine } from '../text.ts'
import { navigate, place as here } from '../router.ts'

/** Follows a request as long as the page is open: the service holds each reply until the request changes. */
function useRequest(id: string) {
  const [request, setRequest] = useState<ApprovalRequest>()
  const problem = useFollowed(() => {
    let wait = 0
    return async (signal) => {
      const path = `/approval-requests/${encodeURIComponent(id)}`
      const { data } = await get<ApprovalRequest>(path, { signal, wait })
      setRequest(data)
      wait = 20
      if (!isOpen(data)) return undefined
      // The service does not hold the reply for an approved request.
      return data.status === 'APPROVED' ? 5_000 : 0
    }
  }, id)
  return { request, problem }
}

export function Request({ params, me }: PageProps) {
  const id = params['id'] ?? ''
  const { request, problem } = useRequest(id)
  const isOfThis = request?.request.requestId === id
  if (request === undefined || (!isOfThis && problem !== undefined))
    return <NotLoaded title="Approval request" problem={problem} />
  // The last request stays until the new request is loaded, and nobody can decide on it meanwhile.
  return (
    <div inert={!isOfThis} aria-busy={!isOfThis}>
      <Shown key={request.request.requestId} asked={request} me={me} problem={problem} />
    </div>
  )
}

const isOpen = ({ status }: ApprovalRequest) => status === 'PENDING' || status === 'APPROVED'

function Shown({
  asked,
  me,
  problem,
}: {
  readonly asked: ApprovalRequest
  readonly me: Me
  readonly problem: string | undefined
}) {
  const { request, status, expiresAt } = asked
  const bytes = canonicalize(request as unknown as Json)
  const hash = sha256Hex(bytes)
  const code = actionCode(request, sha256Hex)
  const policy = usePolicyOf(request.policy)
  const judged = useJudgement(request, isOpen(asked))
  const { place, next } = useQueue(me, request.requestId)
  const line = lineOf(policy.document, request)
  useTitle(line)
  // The page signs the hash that it read first: a request never changes, whatever a later reply says.
  const first = useRef(hash).current
  const wasOpen = useRef(isOpen(asked)).current
  const differs = hash !== asked.requestHash || code !== asked.actionCode || hash !== first
  if (differs) return <DoNotSign {...{ asked, first, hash, code }} />
  const decided = async (how: string) => {
    const { path } = here.get()
    waitingChanged()
    if (how === 'Withdrawn') return
    // The decision stands even if this look-up fails: the page then uses the next request that it knew.
    const following = await lookUpNext(me, request.requestId).catch(() => next)
    // The reader may have left this page meanwhile.
    if (!following || here.get().path !== path) return
    said.set({ about: request.requestId, text: `${how}: ${line}`, on: following })
    navigate(`/console/requests/${following}`)
  }
  return (
    <>
      <QueueBar id={request.requestId} place={place} isKept={me.approverId !== null} />
      <Detail
        heading={<Line of={request} document={policy.document} />}
        status={status}
        when={
          isOpen(asked) ? (
            <Countdown to={expiresAt} />
          ) : (
            <Time at={asked.closed?.closedAt ?? request.createdAt} />
          )
        }
        problem={problem}
        left={
          <>
            <Panel title="What will happen">
              {/* On a phone the region scrolls by itself: no text of a requester moves the oddities off the first screen. */}
              <div class="what" tabIndex={0} role="region" aria-label="What will happen">
                <Wanted by={request} />
                {request.note !== '' && (
                  <p>
                    Note by the requester, which nobody has checked: <Said text={request.note} />
                  </p>
                )}
              </div>
            </Panel>
            <Unusual asked={asked} policy={policy} />
            <Judgement {...{ asked, me, policy, judged }} isOpen={isOpen(asked)} />
          </>
        }
        right={
          <>
            {isOpen(asked) ? (
              <Decide {...{ asked, me, code }} next={next} onDecided={decided} />
            ) : (
              wasOpen && (
                <Panel title="Decided">
                  <Settled next={next}>{`This request is over: ${status.toLowerCase()}.`}</Settled>
                </Panel>
              )
            )}
            <Notes of={asked} />
            <Approvals of={asked} />
            <Panel title="What a signature covers" action={<Copy text={bytes} label="Copy the bytes" />}>
              {!isOpen(asked) && <p class="code">{code}</p>}
              <Covered {...{ request, bytes, hash }} />
            </Panel>
            <Reasons {...{ asked, policy, judged }} />
          </>
        }
      />
    </>
  )
}

interface Decided {
  readonly about: string
  readonly text: string
  /** The request that the decision led to: only its page shows the text. */
  readonly on: string
}

/** The last decision. */
const said = store<Decided | null>(null)

/** The place of this request among the waiting requests, and the links to the others. */
function QueueBar({
  id,
  place,
  isKept,
}: {
  readonly id: string
  readonly place: Place | undefined
  /** The line of the bar is reserved before the queue is known, so that nothing below it moves. */
  readonly isKept: boolean
}) {
  const last = useStore(said)
  const news = last?.on === id ? last : undefined
  if (!isKept && place === undefined && news === undefined) return null
  return (
    <div class="queue">
      {place !== undefined && (
        <>
          <span>
            {place.at} of {place.of}
          </span>
          {place.previous !== undefined && (
            <a href={`/console/requests/${place.previous}`} data-key="p">
              Previous <kbd>p</kbd>
            </a>
          )}
          {place.next !== undefined && (
            <a href={`/console/requests/${place.next}`} data-key="n">
              Next <kbd>n</kbd>
            </a>
          )}
        </>
      )}
      <p role="status">{news !== undefined && <a href={`/console/requests/${news.about}`}>{news.text}</a>}</p>
    </div>
  )
}

/** The page for a request that does not match the service's hash or action code, or that has changed. */
function DoNotSign({
  asked,
  first,
  hash,
  code,
}: {
  readonly asked: ApprovalRequest
  /** The requestHash of the first reply. */
  readonly first: string
  readonly hash: string
  readonly code: string
}) {
  return (
    <>
      <h1>Do not sign this</h1>
      <Problem text="The service names another hash or action code than this page computes from what it was sent, or has sent another request than it did first. Somebody changes what you see. Tell the operator, and keep this page." />
      <Members
        of={{
          first: { requestHash: first },
          named: { requestHash: asked.requestHash, actionCode: asked.actionCode },
          computed: { requestHash: hash, actionCode: code },
        }}
      />
    </>
  )
}

/** The questions of approvers and the answers of the requester. */
function Notes({ of: { notes = [], request } }: { readonly of: ApprovalRequest }) {
  if (notes.length === 0) return null
  return (
    <Panel title="Notes">
      <ul class="plain">
        {notes.map(({ noteId, by, text, notedAt }) => (
          <li key={noteId}>
            <strong>
              <Said text={by} />
            </strong>
            {by === request.requestedBy && ' (the requester)'}, <Time at={notedAt} />: <Said text={text} />
          </li>
        ))}
      </ul>
      <p class="quiet">Nobody has checked what they say, and no approval covers it.</p>
    </Panel>
  )
}

function Approvals({ of }: { readonly of: ApprovalRequest }) {
  const { approvals, notCounted = [], eligible, missing, signals = [] } = of
  // A single signal that every approver may sign for adds nothing to the rest of the panel.
  const bySignal = signals.filter(({ from }) => signals.length > 1 || from !== undefined)
  const misfits = useCounterMisfits()
  return (
    <Panel title="Approvals">
      <p>
        {counted(of.request.quorum, 'approval')} asked for, {missing} missing.
      </p>
      {bySignal.length > 0 && (
        <ul class="plain">
          {bySignal.map((signal) => (
            <li key={signal.signal}>
              <SignalLine of={signal} />
            </li>
          ))}
        </ul>
      )}
      {approvals.length + notCounted.length === 0 ? <Empty>Nobody has signed yet.</Empty> : null}
      <ul class="plain">
        {approvals.map(({ approvalId, approverId, keyId, approvedAt, reason }) => (
          <li key={approvalId}>
            <Said text={approverId} /> with key <Said text={keyId} />, <Time at={approvedAt} />
            <Because reason={reason} />
            {misfits.some((misfit) => misfit.approvalId === approvalId) && <CounterMisfit />}
          </li>
        ))}
        {notCounted.map(({ approvalId, approverId, keyId, approvedAt, because, since }) => (
          <li key={approvalId} class="quiet">
            <Said text={approverId} /> with key <Said text={keyId} />, <Time at={approvedAt} />:{' '}
            {WHY_NOT[because]}
            {since !== undefined && (
              <>
                {' '}
                since <Time at={since} />
              </>
            )}
            ; counts no longer
          </li>
        ))}
        {isOpen(of) && missing > 0 && eligible.length > 0 && bySignal.length === 0 && (
          <li class="quiet">
            Could still sign: <Said text={eligible.join(', ')} />
          </li>
        )}
      </ul>
      <AskedAgain of={of} />
      {of.endedBy !== undefined && (
        <p>
          The policy version of this request was retired: approvals for it count no more.{' '}
          <a href={`/console/changes/policy/${of.endedBy.changeId}`}>Look at the change</a>
        </p>
      )}
      {of.usedBy !== undefined && <UsedBy of={of.usedBy} />}
      {of.closed !== undefined && (
        <p>
          {of.closed.status === 'DECLINED' ? 'Declined' : 'Withdrawn'} by <Said text={of.closed.by} />:{' '}
          <Said text={of.closed.reason ?? ''} />
        </p>
      )}
    </Panel>
  )
}

const WHY_NOT = {
  KEY_REVOKED: 'revoked',
  EXPIRED: 'expired',
  INITIATOR: 'this person is behind the request',
  NOT_IN_GROUP: 'in no group whose approval is asked for',
} as const

/** When approvers are reminded of the request, and when a further group is asked. */
function AskedAgain({ of: { ask, status } }: { readonly of: ApprovalRequest }) {
  const now = useNow(10_000)
  if (ask === undefined || status !== 'PENDING') return null
  const { remindAt, escalateAt, escalateTo } = ask
  const isAhead = escalateAt !== undefined && Date.parse(escalateAt) > now
  return (
    <p class="quiet">
      {remindAt !== undefined && (
        <>
          Reminder <Time at={remindAt} />.{' '}
        </>
      )}
      {escalateAt !== undefined && (
        <>
          {isAhead ? 'Escalates' : 'Escalated'} to group {escalateTo} <Time at={escalateAt} />
          {isAhead && ': its members are asked then. An approval that one of them signs before counts, too'}.
        </>
      )}
    </p>
  )
}

/** The approvals of one signal, and the approvers who can still sign: only the groups that its policy names count. */
function SignalLine({ of }: { readonly of: NonNullable<ApprovalRequest['signals']>[number] }) {
  const { signal, quorum, from, approvedBy, eligible } = of
  const missing = quorum - approvedBy.length
  return (
    <>
      <strong>{oneLine(signal)}</strong>: {approvedBy.length} of {quorum} signed
      {from !== undefined && ` by ${from.length === 1 ? 'group' : 'groups'} ${from.join(' or ')}`}
      {approvedBy.length > 0 && (
        <>
          {' '}
          (<Said text={approvedBy.join(', ')} />)
        </>
      )}
      {missing > 0 && (
        <>
          ; {eligible.length === 0 ? 'nobody can sign' : 'can still sign: '}
          {eligible.length > 0 && <Said text={eligible.join(', ')} />}
        </>
      )}
    </>
  )
}

/** The execution that a used request has released, and its outcome. */
function UsedBy({
  of: { businessTransactionId: id, outcome },
}: {
  readonly of: NonNullable<ApprovalRequest['usedBy']>
}) {
  return (
    <p>
      <a href={`/console/executions/${id}`}>The execution that used it</a>{' '}
      {outcome === undefined ? 'says how it ended' : <Badge status={outcome.toUpperCase()} />}
      {outcome === 'in_doubt' && ': it was released, and nobody knows yet whether it happened.'}
    </p>
  )
}
