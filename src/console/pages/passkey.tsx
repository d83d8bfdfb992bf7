// Passkeys of the human who looks. One that decides is made here and enrolled by others: a session changes nothing, so the page gives what is
// to be proposed. One that only logs in is registered at once, with the key.
import { useState } from 'preact/hooks'
import { post, problemText } from '../api.ts'
import { Command, Empty, Members, NotLoaded, Panel, Problem, Said, Time } from '../components/basic.tsx'
import { Table } from '../components/list.tsx'
import { fieldOf } from '../forms.ts'
import type { Approver } from '../../formats/schemas/approver.ts'
import { useLoaded, type Loaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { makeLoginPasskey, makePasskey, problemOfPasskey, type Enrolment } from '../passkey.ts'
import { newChallenge } from '../session.ts'

type Purpose = 'approve' | 'resolve' | 'log in'

export function MakePasskey({ me }: PageProps) {
  const [made, setMade] = useState<{ purpose: Purpose; keyId: string; enrolment: Enrolment }>()
  const [problem, setProblem] = useState<string>()
  const [asks, setAsks] = useState(false)
  const { approverId } = me
  const isHuman = me.credentialHolderType === 'USER'
  const [purpose, setPurpose] = useState<Purpose>(
    approverId !== null ? 'approve' : isHuman ? 'resolve' : 'log in',
  )
  const own = useLoaded<{ loginPasskeys: LoginPasskey[] }>('/console/data/login-passkeys')
  const approvers = useLoaded<{ approvers: Approver[] }>(approverId === null ? undefined : '/approvers')
  const used = (approvers.data?.approvers ?? [])
    .filter((one) => one.approverId === approverId)
    .map(({ keyId }) => keyId)
  // The names must be known before one is taken; without them the proposal is what finds out.
  const isLoading = approverId !== null && approvers.data === undefined && approvers.problem === undefined
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget
    const keyId = fieldOf(form, 'keyId')
    // Said before the device is asked, which would keep a passkey that nothing can enrol.
    const wrong =
      problemOfName(keyId, purpose === 'approve' ? used : []) ??
      (purpose === 'log in' && fieldOf(form, 'key') === '' ? 'Give your key, once more.' : undefined)
    setProblem(wrong)
    if (wrong !== undefined) return
    setAsks(true)
    try {
      if (purpose === 'log in') {
        const key = fieldOf(form, 'key')
        const registration = await makeLoginPasskey(me.callerId, keyId, await newChallenge())
        await post('/console/data/login-passkeys', { key, ...registration })
        if (form instanceof HTMLFormElement) form.reset()
        own.reload()
        return
      }
      const owner = purpose === 'approve' ? (approverId ?? '') : me.callerId
      setMade({ purpose, keyId, enrolment: await makePasskey(owner, keyId) })
    } catch (error) {
      setProblem(problemOfPasskey(error) ?? problemText(error))
    } finally {
      setAsks(false)
    }
  }
  return (
    <>
      <h1>Passkeys of yours</h1>
      {made === undefined ? (
        <Panel title="Make one">
          <p>
            Your phone, your computer or a security key keeps it, and signs once it has verified that it is
            you. It is asked twice: to make the passkey, and to prove that it is there.
          </p>
          {/* Not by the browser's own messages, which end after a moment. */}
          <form noValidate onSubmit={(event) => void submit(event)}>
            <label>
              What it is for
              <select
                name="purpose"
                value={purpose}
                onChange={({ currentTarget }) => setPurpose(currentTarget.value as Purpose)}
              >
                {approverId !== null && <option value="approve">to approve actions, as {approverId}</option>}
                {isHuman && (
                  <option value="resolve">
                    to resolve changes, close doubts and mend endpoints, as {me.callerId}
                  </option>
                )}
                <option value="log in">to log in to this console, and for nothing else</option>
              </select>
            </label>
            <label>
              A name for it, such as “phone”
              <input name="keyId" required maxLength={64} />
            </label>
            {purpose === 'log in' && (
              <label>
                Your key, once more: whoever only has your session must not make a way in that lasts
                <input name="key" type="password" required autocomplete="off" placeholder="csk_…" />
              </label>
            )}
            <button type="submit" class="primary" disabled={asks || isLoading}>
              {asks ? 'Asking your device…' : 'Make a passkey'}
            </button>
            <Problem text={problem} />
          </form>
          {isHuman && approverId === null && (
            <p class="quiet">
              To approve actions, your key needs an approverId: the operator adds it to the configured caller.
            </p>
          )}
        </Panel>
      ) : made.purpose === 'approve' ? (
        <Proposal approverId={approverId ?? ''} keyId={made.keyId} enrolment={made.enrolment} />
      ) : (
        <ForOperator callerId={me.callerId} enrolment={made.enrolment} />
      )}
      <LoginPasskeys of={own} />
    </>
  )
}

/** @returns why a passkey cannot have this name; undefined where it can */
function problemOfName(keyId: string, used: readonly string[]): string | undefined {
  if (keyId === '') return 'Give the passkey a name first: it is how you and others tell it from another one.'
  if (!/^[A-Za-z0-9._@-]{1,64}$/.test(keyId))
    return 'The name may have 1 to 64 letters, digits or . _ @ -, and nothing else.'
  return used.includes(keyId)
    ? `You have a key named ${keyId} already, in effect or revoked. Choose another name.`
    : undefined
}

interface LoginPasskey {
  readonly loginPasskeyId: string
  readonly name: string
  readonly backupEligible: boolean
  readonly registeredAt: string
  readonly usedAt: string | null
  readonly isInEffect: boolean
}

/** The passkeys that log this human in, and the way to remove one that was lost. */
function LoginPasskeys({
  of: { data, problem, reload },
}: {
  readonly of: Loaded<{ loginPasskeys: LoginPasskey[] }>
}) {
  const [refused, setRefused] = useState<string>()
  const remove = async ({ loginPasskeyId }: LoginPasskey) => {
    setRefused(undefined)
    try {
      await post(`/console/data/login-passkeys/${loginPasskeyId}/remove`, {})
    } catch (error) {
      setRefused(problemText(error))
    }
    reload()
  }
  return (
    <Panel title="Your passkeys to log in">
      {data === undefined ? (
        <NotLoaded problem={problem} />
      ) : data.loginPasskeys.length === 0 ? (
        <Empty>None: you log in with your key.</Empty>
      ) : (
        <Table
          caption="Your passkeys to log in"
          rows={data.loginPasskeys}
          keyOf={({ loginPasskeyId }) => loginPasskeyId}
          columns={[
            { title: 'Name', cell: ({ name }) => <Said text={name} /> },
            {
              title: 'Made',
              // On a phone, which shows no headings, two times stand one after the other.
              cell: ({ registeredAt }) => (
                <>
                  made <Time at={registeredAt} />
                </>
              ),
            },
            {
              title: 'Last used',
              cell: ({ usedAt, isInEffect }) =>
                !isInEffect ? (
                  'over, as the key that registered it'
                ) : usedAt === null ? (
                  'never used'
                ) : (
                  <>
                    used <Time at={usedAt} />
                  </>
                ),
            },
            {
              title: 'Remove',
              cell: (passkey) => (
                <button
                  type="button"
                  aria-label={`Remove ${passkey.name}`}
                  onClick={() => void remove(passkey)}
                >
                  Remove
                </button>
              ),
            },
          ]}
        />
      )}
      <Problem text={refused} />
      <p class="quiet">
        The sessions of one that you remove end with it. Your device keeps the passkey until you delete it
        there; it opens nothing any more.
      </p>
    </Panel>
  )
}

function Proposal({
  approverId,
  keyId,
  enrolment,
}: {
  readonly approverId: string
  readonly keyId: string
  readonly enrolment: Enrolment
}) {
  const body = { action: 'add', approverId, keyId, ...enrolment, reason: `A passkey of ${approverId}.` }
  return (
    <Panel title="Have it enrolled">
      <p>
        It approves nothing yet. One human proposes it, with a key, and another one approves that change: you
        may be one of them.
      </p>
      <Command
        text={`curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' ${location.origin}/approvers/changes -d '${JSON.stringify(body)}'`}
      />
      <details>
        <summary>What is proposed</summary>
        <Members of={body} />
      </details>
      <p class="quiet">The page does not keep it. Copy the command before you leave.</p>
    </Panel>
  )
}

function ForOperator({
  callerId,
  enrolment: { publicKeyPem, passkey },
}: {
  readonly callerId: string
  readonly enrolment: Enrolment
}) {
  const { proof: _, ...kept } = passkey
  return (
    <Panel title="Give it to the operator">
      <p>
        It signs nothing yet. The operator adds this to the entry of <code>{callerId}</code> in
        SERVICE_API_KEYS (with the embedded database: in <code>callers.json</code> of its data folder),
        restarts the service, and must know that it comes from you. A <code>stepUpPublicKey</code> in the same
        entry may stay:
      </p>
      <Command text={JSON.stringify({ stepUpPasskey: { publicKeyPem, ...kept } }, undefined, 2)} />
      <p class="quiet">The page does not keep it. Copy it before you leave.</p>
    </Panel>
  )
}
