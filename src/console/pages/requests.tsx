// What callers ask humans to approve: the list, and one request as an approver must see it before they sign.
import { useEffect, useRef, useState } from 'preact/hooks'
import { actionCode } from '../../core/approval-requests/action-code.ts'
import { canonicalize, type Json } from '../../core/json/canonical.ts'
import type { ApprovalRequest } from '../../core/schemas/approval-request.ts'
import { ApiProblem, get, isAborted, post, problemText, type Me } from '../api.ts'
import {
  Badge,
  Command,
  Copy,
  Countdown,
  Empty,
  Members,
  Panel,
  Problem,
  Said,
  Time,
} from '../components/basic.tsx'
import { Covered, Wanted } from '../components/asked.tsx'
import { Judgement } from '../components/judgement.tsx'
import { Choice, Listed, listPath } from '../components/list.tsx'
import { RequestTable } from '../components/requests.tsx'
import { fieldOf } from '../forms.ts'
import { sha256Hex } from '../hashing.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { algorithmOfPem, approvalBy } from '../passkey.ts'
import { useSigning } from '../signing.ts'
import { counted, jsonText, oneLine } from '../text.ts'
import type { PageProps } from '../page.ts'

const STATUSES = ['PENDING', 'APPROVED', 'DECLINED', 'EXPIRED', 'USED', 'WITHDRAWN']

export function Requests({ query }: PageProps) {
  const path = listPath('/approval-requests', query, ['status', 'cursor'])
  const loaded = useLoaded<{ requests: ApprovalRequest[] }>(path, 10_000)
  return (
    <>
      <h1>Approval requests</h1>
      <div class="filters">
        <Choice label="Status" name="status" values={STATUSES} />
      </div>
      <Listed
        loaded={loaded}
        rowsOf={({ requests }) => requests}
        empty="No such request. A caller asks by POST /approval-requests, or with the clients' onApprovalNeeded: 'ask'."
      >
        {(rows) => <RequestTable caption="Approval requests" requests={rows} />}
      </Listed>
    </>
  )
}

/** Holds the request until it changes, for as long as the page is open. */
function useRequest(id: string) {
  const [request, setRequest] = useState<ApprovalRequest>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const follow = async () => {
      let wait = 0
      while (!signal.aborted) {
        try {
          const { data } = await get<ApprovalRequest>(`/approval-requests/${encodeURIComponent(id)}`, {
            signal,
            wait,
          })
          setRequest(data)
          setProblem(undefined)
          if (data.status !== 'PENDING' && data.status !== 'APPROVED') return
          // The reply of an approved one is not held.
          if (data.status === 'APPROVED') await pause(5_000, signal)
          wait = 20
        } catch (error) {
          if (isAborted(error)) return
          setProblem(problemText(error))
          await pause(3_000, signal)
        }
      }
    }
    void follow()
    return () => leaving.abort()
  }, [id])
  return { request, problem }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

export function Request({ params, me }: PageProps) {
  const id = params['id'] ?? ''
  const { request, problem } = useRequest(id)
  useTitle(request === undefined ? 'Approval request' : oneLine(request.request.capability))
  if (request === undefined)
    return (
      <>
        <h1>Approval request</h1>
        {problem === undefined ? <p class="quiet">Loading…</p> : <Problem text={problem} />}
      </>
    )
  return <Shown key={id} asked={request} me={me} problem={problem} />
}

function Shown({
  asked,
  me,
  problem,
}: {
  readonly asked: ApprovalRequest
  readonly me: Me
  readonly problem: string | undefined
}) {
  const { request, status, expiresAt, approvals, eligible, missing } = asked
  const bytes = canonicalize(request as unknown as Json)
  const hash = sha256Hex(bytes)
  const code = actionCode(request, sha256Hex)
  // What was read first is what is signed: a request never changes, whoever says so.
  const first = useRef(hash).current
  const differs = hash !== asked.requestHash || code !== asked.actionCode || hash !== first
  const isOpen = status === 'PENDING' || status === 'APPROVED'
  if (differs)
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
  return (
    <>
      <header class="heading">
        <h1>
          <Said text={request.capability} />
        </h1>
        <Badge status={status} />
        {isOpen ? <Countdown to={expiresAt} /> : <Time at={asked.closed?.closedAt ?? request.createdAt} />}
      </header>
      <Problem text={problem} />
      <div class="columns">
        <div>
          <Panel title="What will happen">
            <Wanted by={request} />
            {request.note !== '' && (
              <p>
                Note by the requester, which nobody has checked: <Said text={request.note} />
              </p>
            )}
          </Panel>
          <Judgement of={request} />
          <Panel title="Compare" action={<Copy text={code} />}>
            <p class="code">{code}</p>
            <p class="quiet">
              Ask whoever runs <Said text={request.requestedBy} />, over another channel, for the action code
              that they see. It must be this one: their program computed it from what it sent, and this page
              from what you see.
            </p>
          </Panel>
          <Panel title="Approvals">
            <p>
              {counted(request.quorum, 'approval')} asked for, {missing} missing.
            </p>
            {approvals.length === 0 ? <Empty>Nobody has signed yet.</Empty> : null}
            <ul class="plain">
              {approvals.map(({ approvalId, approverId, keyId, approvedAt }) => (
                <li key={approvalId}>
                  <Said text={approverId} /> with key <Said text={keyId} />, <Time at={approvedAt} />
                </li>
              ))}
              {isOpen && eligible.length > 0 && (
                <li class="quiet">
                  Could still sign: <Said text={eligible.join(', ')} />
                </li>
              )}
            </ul>
            {asked.closed !== undefined && (
              <p>
                {asked.closed.status === 'DECLINED' ? 'Declined' : 'Withdrawn'} by{' '}
                <Said text={asked.closed.by} />: <Said text={asked.closed.reason ?? ''} />
              </p>
            )}
          </Panel>
          {isOpen && <Decide asked={asked} me={me} />}
        </div>
        <div>
          <Panel title="What a signature covers" action={<Copy text={bytes} label="Copy the bytes" />}>
            <Covered {...{ request, bytes, hash }} />
          </Panel>
          <Similar to={request} />
        </div>
      </div>
    </>
  )
}

/** An enrolled key of the human who looks, that this page can ask. */
interface OwnKey {
  readonly approverId: string
  readonly keyId: string
  readonly publicKeyPem: string
  readonly passkey?: {
    readonly rpId: string
    readonly origins: readonly string[]
    readonly credentialId: string
  }
  readonly revokedAt?: string
}

/** How to sign, and how to say no. */
function Decide({ asked, me }: { readonly asked: ApprovalRequest; readonly me: Me }) {
  const { requestId, requestedBy } = asked.request
  const [closing, setClosing] = useState<'decline' | 'withdraw'>()
  const mayDecide = me.approverId !== null && asked.eligible.includes(me.approverId)
  const { data } = useLoaded<{ approvers: OwnKey[] }>(
    mayDecide && me.credentialHolderType === 'USER' ? '/approvers' : undefined,
  )
  const passkeys = (data?.approvers ?? []).filter(
    ({ approverId, passkey, revokedAt }) =>
      approverId === me.approverId &&
      revokedAt === undefined &&
      passkey?.origins.includes(location.origin) === true,
  )
  return (
    <Panel title="Decide">
      <p>Your signature counts for one execution by this caller, of exactly this.</p>
      {passkeys.map((key) => (
        <SignWith key={key.keyId} own={key} asked={asked} />
      ))}
      <Elsewhere requestId={requestId} approverId={me.approverId} open={passkeys.length === 0} />
      {mayDecide && passkeys.length === 0 && (
        <p class="quiet">
          Or <a href="/console/passkey">make a passkey</a>, and sign here.
        </p>
      )}
      <div class="actions">
        {mayDecide && (
          <button type="button" onClick={() => setClosing('decline')}>
            Decline…
          </button>
        )}
        {requestedBy === me.callerId && (
          <button type="button" onClick={() => setClosing('withdraw')}>
            Withdraw…
          </button>
        )}
      </div>
      {closing !== undefined && (
        <Close requestId={requestId} how={closing} onDone={() => setClosing(undefined)} />
      )}
    </Panel>
  )
}

/** With a key in a file, on a machine or a saved page that this service does not control; what comes back is delivered here. */
function Elsewhere({
  requestId,
  approverId,
  open,
}: {
  readonly requestId: string
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
      <details open={open}>
        <summary>Sign on your own machine, with a key in a file</summary>
        <Command
          text={`bin/countersign approver sign-request ${requestId} --url ${location.origin} --api-key "$KEY" --key <your key>.pem --approver ${approverId ?? '<you>'} --key-id <key>`}
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

/** Signs what the page shows: the browser asks the human, and the passkey verifies who that is. */
function SignWith({ own, asked }: { readonly own: OwnKey; readonly asked: ApprovalRequest }) {
  const { approverId, keyId, publicKeyPem, passkey } = own
  const { waits, done, problem, run } = useSigning()
  if (passkey === undefined) return null
  const { rpId, credentialId } = passkey
  const by = { approverId, keyId, rpId, credentialId, algorithm: algorithmOfPem(publicKeyPem) }
  const submit = () => run(async () => post('/approvals', await approvalBy(by, asked)))
  return (
    <>
      <div class="actions">
        <button type="button" class="primary" disabled={waits} onClick={() => void submit()}>
          Sign with passkey {keyId}…
        </button>
      </div>
      <Problem text={problem} />
      {done && <p role="status">Signed. The request changes in a moment.</p>}
    </>
  )
}

function Close({
  requestId,
  how,
  onDone,
}: {
  readonly requestId: string
  readonly how: 'decline' | 'withdraw'
  readonly onDone: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [problem, setProblem] = useState<string>()
  useEffect(() => dialog.current?.showModal(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const reason = fieldOf(event.currentTarget, 'reason')
    try {
      await post(`/approval-requests/${requestId}/${how}`, how === 'decline' ? { reason } : {})
      dialog.current?.close()
    } catch (error) {
      setProblem(problemText(error))
    }
  }
  return (
    <dialog ref={dialog} onClose={onDone} aria-labelledby="closing">
      <h2 id="closing">{how === 'decline' ? 'Decline this request' : 'Withdraw this request'}</h2>
      <form onSubmit={(event) => void submit(event)}>
        {how === 'decline' && (
          <label>
            Why, for the caller and for later readers
            <textarea name="reason" required maxLength={1000} rows={4} />
          </label>
        )}
        <p>This is final: approvals that were given for the request count no more.</p>
        <Problem text={problem} />
        <div class="actions">
          <button type="submit" class="primary">
            {how === 'decline' ? 'Decline' : 'Withdraw'}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Go back
          </button>
        </div>
      </form>
    </dialog>
  )
}

interface Past {
  readonly businessTransactionId: string
  readonly createdAt: string
  readonly transaction: {
    readonly intent: {
      readonly action: string
      readonly target: string
      readonly parameters: Readonly<Record<string, unknown>>
    }
  }
  readonly executions: readonly { readonly status: string }[]
}

/** How many of the caller's executions are looked through. */
const PAST = 50
const SHOWN = 5

/** What the same caller has executed of the same capability. What was refused is left out: anybody can make a target look well known by trying. */
function Similar({ to }: { readonly to: ApprovalRequest['request'] }) {
  const { requestedBy, capability, target } = to
  const query = new URLSearchParams({ callerId: requestedBy, pageSize: String(PAST) }).toString()
  const { data, problem } = useLoaded<Past[]>(`/trust-records?${query}`)
  const similar = (data ?? []).filter(({ transaction }) => transaction.intent.action === capability)
  const same = similar.filter(({ transaction }) => transaction.intent.target === target)
  return (
    <Panel title="Executed before, by this caller">
      <Problem text={problem} />
      {data !== undefined && (
        <p>
          {similar.length} of its newest {counted(data.length, 'execution')} did <Said text={capability} />,{' '}
          {same.length === 0 ? <strong>none on this target</strong> : `${same.length} on this target`}.
        </p>
      )}
      <Ranges of={to.parameters} among={similar} />
      <ul class="plain">
        {[...new Set([...same, ...similar])].slice(0, SHOWN).map((past) => (
          <li key={past.businessTransactionId}>
            <a href={`/console/executions/${past.businessTransactionId}`}>
              <Said text={past.transaction.intent.target} />
            </a>{' '}
            <Badge status={past.executions[0]?.status ?? 'unknown'} /> <Time at={past.createdAt} />{' '}
            <code>{jsonText(past.transaction.intent.parameters).slice(0, 120)}</code>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Where the request's numbers stand among those of before. */
function Ranges({ of, among }: { readonly of: object; readonly among: readonly Past[] }) {
  const ranges = Object.entries(of).flatMap(([name, value]: [string, unknown]) => {
    const before = among
      .map(({ transaction }) => transaction.intent.parameters[name])
      .filter((past) => typeof past === 'number')
    return typeof value === 'number' && before.length > 0
      ? [{ name, value, least: Math.min(...before), greatest: Math.max(...before) }]
      : []
  })
  return ranges.map(({ name, value, least, greatest }) => (
    <p key={name}>
      <Said text={name} />: <code>{value}</code>, before <code>{least}</code> to <code>{greatest}</code>
      {value > greatest && (
        <>
          . <strong>Higher than any of these.</strong>
        </>
      )}
    </p>
  ))
}
