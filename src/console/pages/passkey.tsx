// Passkeys of the logged-in human. A passkey that decides is made here and enrolled by others: a session changes nothing, so the page gives the
// text to propose. A passkey that only logs in is registered at once, with the API key.
import { useEffect, useState } from 'preact/hooks'
import { post, problemText, type Me } from '../api.ts'
import {
  Badge,
  Command,
  Empty,
  Members,
  NotLoaded,
  Panel,
  Problem,
  Said,
  Time,
} from '../components/basic.tsx'
import { Table } from '../components/list.tsx'
import { keepDraft, keptDraft } from '../draft.ts'
import { fieldOf } from '../forms.ts'
import type { Approver } from '../../formats/schemas/approver.ts'
import { useLoaded, type Loaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { makeLoginPasskey, makePasskey, problemOfPasskey, type Enrolment } from '../passkey.ts'
import { saveFile } from '../save.ts'
import { newChallenge } from '../session.ts'

type Purpose = 'approve' | 'resolve' | 'log in'

/** A passkey whose public half others have to enrol. The tab keeps that half: if it were lost, the passkey on the device would be useless. */
interface Made {
  readonly purpose: Exclude<Purpose, 'log in'>
  readonly keyId: string
  readonly enrolment: Enrolment
}

/** The name under which the passkey is kept. */
const DRAFT = 'passkey'

export function MakePasskey({ me }: PageProps) {
  const [made, setMade] = useState(() => keptDraft(me.callerId, DRAFT) as Made | undefined)
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
  useEffect(() => keepDraft(me.callerId, DRAFT, made), [made])
  const isEnrolled =
    made !== undefined &&
    (made.purpose === 'approve'
      ? used.includes(made.keyId)
      : me.stepUpPasskey?.publicKeyPem === made.enrolment.publicKeyPem)
  useEffect(() => {
    if (isEnrolled) setMade(undefined)
  }, [isEnrolled])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget
    const keyId = fieldOf(form, 'keyId')
    // Checked before the device is asked: otherwise the device would keep a passkey that nobody can enrol.
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
          {/* `noValidate`, because the browser's own messages disappear after a moment. */}
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
            {/* The used names must be known before a new name is taken; without them, the proposal finds a duplicate. */}
            <button type="submit" class="primary" disabled={asks || approvers.isAwaited}>
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
        <Proposal
          approverId={approverId ?? ''}
          keyId={made.keyId}
          enrolment={made.enrolment}
          onForget={() => setMade(undefined)}
        />
      ) : (
        <ForOperator callerId={me.callerId} enrolment={made.enrolment} onForget={() => setMade(undefined)} />
      )}
      <SigningPasskeys me={me} of={approvers} />
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

/** The passkeys that decide, from the published keys: other humans enrolled them, and other humans revoke them. */
function SigningPasskeys({
  me,
  of: { data, problem, isAwaited },
}: {
  readonly me: Me
  readonly of: Loaded<{ approvers: Approver[] }>
}) {
  const own = (data?.approvers ?? []).flatMap(({ approverId, keyId, passkey, enrolledAt, revokedAt }) =>
    approverId === me.approverId && passkey !== undefined
      ? [{ name: keyId, purpose: `to approve actions, as ${approverId}`, enrolledAt, revokedAt }]
      : [],
  )
  const resolves = {
    name: 'step-up',
    purpose: `to resolve changes, close doubts and mend endpoints, as ${me.callerId}`,
  }
  const rows: readonly {
    name: string
    purpose: string
    enrolledAt?: string
    revokedAt?: string | undefined
  }[] = me.stepUpPasskey === null ? own : [...own, resolves]
  return (
    <Panel title="Your passkeys that sign">
      {isAwaited || problem !== undefined ? (
        <NotLoaded problem={problem} />
      ) : rows.length === 0 ? (
        <Empty>None is enrolled yet.</Empty>
      ) : (
        <Table
          caption="Your passkeys that sign"
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Name', cell: ({ name }) => <Said text={name} /> },
            { title: 'What it is for', cell: ({ purpose }) => <Said text={purpose} /> },
            {
              title: 'Status',
              cell: ({ revokedAt }) => <Badge status={revokedAt === undefined ? 'IN_EFFECT' : 'REVOKED'} />,
            },
            {
              title: 'Enrolled',
              cell: ({ enrolledAt }) =>
                enrolledAt === undefined ? 'with your key' : <Time at={enrolledAt} />,
            },
          ]}
        />
      )}
      <p class="quiet">
        One that was lost is revoked by two humans: <a href="/console/approvers">Approvers</a> has the
        command.
      </p>
    </Panel>
  )
}

interface LoginPasskey {
  readonly loginPasskeyId: string
  readonly name: string
  readonly backupEligible: boolean
  readonly registeredAt: string
  readonly usedAt: string | null
  readonly isInEffect: boolean
}

/** The passkeys that log this human in, and the way to remove a lost passkey. */
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
              // A phone shows no headings: without these words, two times would follow each other.
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
  onForget,
}: {
  readonly approverId: string
  readonly keyId: string
  readonly enrolment: Enrolment
  readonly onForget: () => void
}) {
  const body = { action: 'add', approverId, keyId, ...enrolment, reason: `A passkey of ${approverId}.` }
  const text = JSON.stringify(body)
  const file = `passkey-${keyId.replaceAll('@', '-')}.json`
  return (
    <Panel title="Have it enrolled">
      <p>
        It approves nothing yet. One human proposes it, with a key, and another one approves that change: you
        may be one of them. Give this file, which holds no secret, to whoever proposes it:
      </p>
      <Handing text={text} file={file} onForget={onForget} />
      <p>Who has the file proposes it by this command:</p>
      <Command text={`bin/countersign changes propose approver ${file} --url ${location.origin}`} />
      <p class="quiet">
        It reads the API key of a human from <code>COUNTERSIGN_API_KEY</code>; a profile, given with{' '}
        <code>--profile</code>, can hold address and key.
      </p>
      <details>
        <summary>What is proposed</summary>
        <Members of={body} />
        <p>The file, as text:</p>
        <Command text={text} />
      </details>
    </Panel>
  )
}

/** The ways to hand a text on this device to others. */
function Handing({
  text,
  file,
  onForget,
}: {
  readonly text: string
  /** The name of the file. */
  readonly file: string
  readonly onForget: () => void
}) {
  // The type says that every browser has `share`, but the browser of a desktop may lack it.
  const mayShare = 'share' in navigator
  return (
    <>
      <div class="actions">
        <button type="button" onClick={() => saveFile(new Blob([text], { type: 'application/json' }), file)}>
          Save {file}
        </button>
        {mayShare && (
          <button
            type="button"
            // A human who closes the choice of programs has shared nothing, which is no failure.
            onClick={() => void navigator.share({ title: file, text }).catch(() => undefined)}
          >
            Share…
          </button>
        )}
        <button type="button" onClick={onForget}>
          Forget it
        </button>
      </div>
      <p class="quiet">This tab keeps it until it is enrolled, you forget it, log out or close the tab.</p>
    </>
  )
}

function ForOperator({
  callerId,
  enrolment: { publicKeyPem, passkey },
  onForget,
}: {
  readonly callerId: string
  readonly enrolment: Enrolment
  readonly onForget: () => void
}) {
  const { proof: _, ...kept } = passkey
  const text = JSON.stringify({ stepUpPasskey: { publicKeyPem, ...kept } }, undefined, 2)
  return (
    <Panel title="Give it to the operator">
      <p>
        It signs nothing yet. The operator adds this to the entry of <code>{callerId}</code> in
        SERVICE_API_KEYS (with the embedded database: in <code>callers.json</code> of its data folder),
        restarts the service, and must know that it comes from you. A <code>stepUpPublicKey</code> in the same
        entry may stay:
      </p>
      <Command text={text} />
      <Handing
        text={text}
        file={`step-up-passkey-${callerId.replaceAll(/[^\w.-]/g, '-')}.json`}
        onForget={onForget}
      />
    </Panel>
  )
}
