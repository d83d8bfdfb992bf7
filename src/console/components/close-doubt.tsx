// How a human closes an execution in doubt: they say how it ended and how they know, and sign exactly that statement. The page computes the
// payload from the action that it shows; the hash of this action must be the hash that the release was bound to.
import { useState } from 'preact/hooks'
import { actionText } from '../../formats/action-text.ts'
import type { BusinessTransaction } from '../../formats/schemas/business-transaction.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import type { Resolution } from '../../formats/schemas/intent-states.ts'
import { post, type Me } from '../api.ts'
import { fieldOf } from '../forms.ts'
import { sha256Hex } from '../hashing.ts'
import { algorithmOfPem, resolutionBy } from '../passkey.ts'
import { useSigning } from '../signing.ts'
import { Command, Members, NotLoaded, Panel, Problem, Said, Time } from './basic.tsx'

/** The outcomes that a human can state, with their labels. */
const OUTCOMES: readonly (readonly [Resolution, string])[] = [
  ['EXECUTED', 'It was executed'],
  ['NOT_EXECUTED', 'It was not executed'],
]

interface Closing {
  readonly intent: ExecutionIntent
  /** Undefined until it is loaded: nothing is signed before. */
  readonly submitted: BusinessTransaction | undefined
  /** Why it is not loaded. */
  readonly problem: string | undefined
  readonly me: Me
  readonly onClosed: () => void
}

export function CloseIt({ intent, submitted, problem, me, onClosed }: Closing) {
  const { businessTransactionId: id, firstWord, authorization } = intent
  if (me.credentialHolderType !== 'USER')
    return (
      <Panel title="Close it">
        <p>A human closes it, who says what they found.</p>
      </Panel>
    )
  const hash = submitted && sha256Hex(actionText(id, submitted.intent))
  if (hash !== undefined && hash !== authorization.payload.businessTransactionHash)
    return (
      <Panel title="Do not sign this">
        <Problem text="The service shows another action than it has released: its hash is not the one that the release names. Tell the operator, and keep this page." />
      </Panel>
    )
  return (
    <Panel title="Close it">
      {firstWord === undefined ? (
        <p>Say what you found. It is final, and nothing is executed again.</p>
      ) : (
        <p>
          <Said text={firstWord.by} /> said <Time at={firstWord.at} /> that it was{' '}
          {firstWord.resolution.replace('_', ' ').toLowerCase()}
          {firstWord.stepUpAuthorization !== undefined && ', and signed it'}: <Said text={firstWord.note} />.
          A second human must say the same. That is final, and nothing is executed again.
        </p>
      )}
      {me.stepUpPasskey !== null &&
        (hash === undefined ? (
          <NotLoaded problem={problem} />
        ) : (
          <SignedWord id={id} hash={hash} own={me.stepUpPasskey} onClosed={onClosed} />
        ))}
      <Otherwise id={id} hasPasskey={me.stepUpPasskey !== null} />
    </Panel>
  )
}

function SignedWord({
  id,
  hash,
  own,
  onClosed,
}: {
  readonly id: string
  /** The hash of the action that the page shows. */
  readonly hash: string
  readonly own: NonNullable<Me['stepUpPasskey']>
  readonly onClosed: () => void
}) {
  const [resolution, setResolution] = useState<Resolution>()
  const [note, setNote] = useState('')
  const { waits, done, problem, run } = useSigning()
  const said = { businessTransactionId: id, businessTransactionHash: hash, resolution, note: note.trim() }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const chosen = fieldOf(event.currentTarget, 'resolution') as Resolution
    void run(async () => {
      const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) }
      const stepUpAuthorization = await resolutionBy(by, { ...said, resolution: chosen })
      await post(`/execution-intents/${id}/resolve`, {
        resolution: chosen,
        note: said.note,
        stepUpAuthorization,
      })
      onClosed()
    })
  }
  return (
    <form onSubmit={submit}>
      <fieldset>
        <legend>How it ended</legend>
        {OUTCOMES.map(([value, text]) => (
          <label key={value} class="check">
            <input
              type="radio"
              name="resolution"
              value={value}
              required
              checked={resolution === value}
              onChange={() => setResolution(value)}
            />
            {text}
          </label>
        ))}
      </fieldset>
      <label>
        How you know, and where you looked
        <textarea
          name="note"
          required
          maxLength={1000}
          rows={3}
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </label>
      <details>
        <summary>What your signature covers</summary>
        <Members of={{ action: 'resolve', ...said, resolution: resolution ?? '' }} />
      </details>
      <div class="actions">
        <button type="submit" class="primary" disabled={waits}>
          Close it with your passkey…
        </button>
      </div>
      <Problem text={problem} />
      {done && <p role="status">Signed. The execution shows it in a moment.</p>}
    </form>
  )
}

/** Other ways: a command signs the same without a passkey; a program uses an API key alone, and only the service vouches for the author. */
function Otherwise({ id, hasPasskey }: { readonly id: string; readonly hasPasskey: boolean }) {
  const at = `${location.origin}/execution-intents/${id}`
  const curl = `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\\n  -d`
  return (
    <>
      {!hasPasskey && (
        <p>
          There are no buttons here, because what you say is signed with a step-up passkey and you have none.{' '}
          <a href="/console/passkey">Make one</a>, or sign with your step-up key by this command:
        </p>
      )}
      <details open={!hasPasskey}>
        <summary>Close it by a command that signs</summary>
        <Command
          text={`bin/countersign intents resolve ${id} not-executed \\\n  --note "<what you found, and where>" --profile <your profile>`}
        />
        <p class="quiet">
          <code>executed</code> where it happened. The profile names your key and your step-up key, such as{' '}
          <code>mine/humans/dana.json</code> of <code>countersign setup humans</code>.
        </p>
      </details>
      <details>
        <summary>Close it with your API key alone, unsigned</summary>
        <Command
          text={`${curl} '{"resolution": "EXECUTED", "note": "<what you found, and where>"}' \\\n  ${at}/resolve`}
        />
        <p class="quiet">
          <code>NOT_EXECUTED</code> where it did not happen.
        </p>
      </details>
    </>
  )
}
