// A passkey of the human who looks: made here, and enrolled by others. A session changes nothing, so the page gives what is to be proposed.
import { useState } from 'preact/hooks'
import { problemText } from '../api.ts'
import { Command, Members, Panel, Problem } from '../components/basic.tsx'
import { fieldOf } from '../forms.ts'
import type { PageProps } from '../page.ts'
import { makePasskey, problemOfPasskey, type Enrolment } from '../passkey.ts'

type Purpose = 'approve' | 'resolve'

export function MakePasskey({ me }: PageProps) {
  const [made, setMade] = useState<{ purpose: Purpose; keyId: string; enrolment: Enrolment }>()
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const { approverId } = me
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const purpose = fieldOf(event.currentTarget, 'purpose') as Purpose
    const keyId = fieldOf(event.currentTarget, 'keyId')
    setBusy(true)
    setProblem(undefined)
    try {
      const owner = purpose === 'approve' ? (approverId ?? '') : me.callerId
      setMade({ purpose, keyId, enrolment: await makePasskey(owner, keyId) })
    } catch (error) {
      setProblem(problemOfPasskey(error) ?? problemText(error))
    } finally {
      setBusy(false)
    }
  }
  if (me.credentialHolderType !== 'USER')
    return (
      <>
        <h1>A passkey of yours</h1>
        <p>
          Passkeys are for humans: yours is the key of a program (credentialHolderType), which signs nothing.
        </p>
      </>
    )
  return (
    <>
      <h1>A passkey of yours</h1>
      {made === undefined ? (
        <Panel title="Make one">
          <p>
            Your phone, your computer or a security key keeps it, and signs once it has verified that it is
            you. It is asked twice: to make the passkey, and to prove that it is there.
          </p>
          <form onSubmit={(event) => void submit(event)}>
            <label>
              What it is for
              <select name="purpose">
                {approverId !== null && <option value="approve">to approve actions, as {approverId}</option>}
                <option value="resolve">to resolve changes, as {me.callerId}</option>
              </select>
            </label>
            <label>
              A name for it, such as “phone”
              <input
                name="keyId"
                required
                pattern="[A-Za-z0-9._@\-]{1,64}"
                title="1 to 64 letters, digits or . _ @ -"
              />
            </label>
            <button type="submit" class="primary" disabled={busy}>
              {busy ? 'Asking your device…' : 'Make a passkey'}
            </button>
            <Problem text={problem} />
          </form>
          {approverId === null && (
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
    </>
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
        It resolves nothing yet. The operator adds this to <code>{callerId}</code> in SERVICE_API_KEYS, and
        must know that it comes from you:
      </p>
      <Command text={JSON.stringify({ stepUpPasskey: { publicKeyPem, ...kept } }, undefined, 2)} />
      <p class="quiet">The page does not keep it. Copy it before you leave.</p>
    </Panel>
  )
}
