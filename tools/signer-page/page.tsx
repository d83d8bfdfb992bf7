// The offline signer: a request comes in as a file or as text, a human looks, and an approval goes out the same ways. The page opens no
// connection and stores nothing; the private key is forgotten with the signature that it makes.
import { render, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Covered, ReasonField, Wanted } from '../../src/console/components/asked.tsx'
import { Copy, Countdown, Panel, Problem, Said } from '../../src/console/components/basic.tsx'
import { Qr } from '../../src/console/components/qr.tsx'
import { fieldOf } from '../../src/console/forms.ts'
import { readPrivateKey, readRequest, signRequest, type Asked } from './sign.ts'

const isSaved = location.protocol === 'file:'

function Signer() {
  const [asked, setAsked] = useState<Asked>()
  const [approval, setApproval] = useState<string>()
  return (
    <main>
      <h1>Countersign offline signer</h1>
      <p>
        Shows an approval request and signs it with your key. Everything happens inside this page: it opens no
        connection, its own security policy forbids it any, and it keeps nothing.
      </p>
      {!isSaved && (
        <p>
          <strong>
            <a href="/signer" download="countersign-signer.html">
              Save this page
            </a>
          </strong>{' '}
          and open the copy, best on a device without a network. A page that comes from the service anew each
          time is only as honest as the service.
        </p>
      )}
      {asked === undefined ? (
        <GiveRequest onGiven={setAsked} />
      ) : (
        <>
          <Request asked={asked} />
          {approval === undefined ? (
            <Sign asked={asked} onSigned={setApproval} />
          ) : (
            <Approval text={approval} requestId={asked.request.requestId} />
          )}
          <p>
            <button
              type="button"
              onClick={() => {
                setAsked(undefined)
                setApproval(undefined)
              }}
            >
              Another request
            </button>
          </p>
        </>
      )}
    </main>
  )
}

function GiveRequest({ onGiven }: { readonly onGiven: (asked: Asked) => void }) {
  const [problem, setProblem] = useState<string>()
  const give = (text: string) => {
    try {
      onGiven(readRequest(text))
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <Panel title="1. The request">
      <p>
        The console’s page of the request saves it as a file, and shows it as a QR code: paste here what the
        code says.
      </p>
      <FileField label="File of the request" onText={give} />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          give(fieldOf(event.currentTarget, 'request'))
        }}
      >
        <label>
          Or its text
          <textarea name="request" rows={6} required spellcheck={false} autocomplete="off" />
        </label>
        <button type="submit">Look at it</button>
      </form>
      <Problem text={problem} />
    </Panel>
  )
}

function Request({ asked: { request, bytes, hash, code } }: { readonly asked: Asked }) {
  return (
    <>
      <Panel title="2. What will happen">
        <Wanted by={request} />
        <p>
          <Countdown to={request.expiresAt} />
        </p>
        <p>Its action code:</p>
        <p class="code">{code}</p>
        <p class="quiet">
          Find out whether this is right, from the invoice and not from the request. Then ask whoever runs{' '}
          <Said text={request.requestedBy} />, over another channel, for the action code that they see: it
          must be this one.
        </p>
      </Panel>
      <Panel title="What a signature covers">
        <Covered {...{ request, bytes, hash }} />
      </Panel>
    </>
  )
}

function Sign({ asked, onSigned }: { readonly asked: Asked; readonly onSigned: (approval: string) => void }) {
  const [pem, setPem] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget
    try {
      if (Date.parse(asked.request.expiresAt) <= Date.now())
        throw new Error('This request is over, by the clock of this device.')
      if (pem === undefined) throw new Error('Choose the file of your private key.')
      const secretKey = readPrivateKey(pem)
      onSigned(
        signRequest(asked, {
          approverId: fieldOf(form, 'approver'),
          keyId: fieldOf(form, 'keyId'),
          secretKey,
          reason: fieldOf(form, 'reason'),
        }),
      )
      secretKey.fill(0)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <Panel title="3. Sign it">
      <form onSubmit={submit}>
        <FileField label="File of your private key (….private.pem)" onText={setPem} />
        <label>
          Your approverId
          <input name="approver" required autocomplete="off" spellcheck={false} />
        </label>
        <label>
          The keyId that it is enrolled under
          <input name="keyId" required autocomplete="off" spellcheck={false} />
        </label>
        <ReasonField />
        <button type="submit" class="primary">
          Sign this request
        </button>
        <Problem text={problem} />
      </form>
      <p class="quiet">
        The signature counts for one execution by this caller, of exactly this, until the request is over.
      </p>
    </Panel>
  )
}

function Approval({ text, requestId }: { readonly text: string; readonly requestId: string }) {
  return (
    <Panel title="4. The approval" action={<Copy text={text} />}>
      <p role="status">
        Signed. Take it to the console’s page of the request, “Deliver a signature that was made elsewhere”,
        or to <code>POST /approvals</code>. Whoever has it can only deliver it.
      </p>
      <p>
        <a
          class="button"
          href={`data:application/json;charset=utf-8,${encodeURIComponent(text)}`}
          download={`approval-${requestId}.json`}
        >
          Save it as a file
        </a>
      </p>
      <label>
        Its text
        <textarea rows={6} readOnly value={text} />
      </label>
      <Qr text={text} label="QR code of the approval" />
    </Panel>
  )
}

/** The text of a file that a human chooses. */
function FileField({
  label,
  onText,
}: {
  readonly label: ComponentChildren
  readonly onText: (text: string) => void
}) {
  const [problem, setProblem] = useState<string>()
  return (
    <label>
      {label}
      <input
        type="file"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          if (file === undefined) return
          file.text().then(onText, () => setProblem('This file cannot be read.'))
        }}
      />
      <Problem text={problem} />
    </label>
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// A saved copy has no service behind it.
if (isSaved) for (const served of document.querySelectorAll('[data-served]')) served.remove()
render(<Signer />, document.querySelector('#signer')!)
