// The decision of a policy version on an action that the reader makes up: the sandbox stores nothing and calls no connector.
import { useState } from 'preact/hooks'
import type { PolicyDetail } from '../../formats/schemas/policy-version.ts'
import { post, problemText, type Me } from '../api.ts'
import { fieldOf } from '../forms.ts'
import type { Decision } from './judgement.tsx'
import { Badge, Panel, Problem, Said } from './basic.tsx'

interface Evaluation {
  readonly problems: readonly { readonly path: string; readonly message: string }[]
  readonly decision: Decision | null
}

interface Tried {
  readonly evaluation?: Evaluation
  readonly problem?: string
}

/** An example for the reader to change, with every signal that a caller has to send. */
function exampleOf({ document, toSend }: PolicyDetail): string {
  const signals = toSend.flatMap(({ signal, type, verified }) =>
    verified === undefined ? [[signal, type === 'boolean' ? true : 0] as const] : [],
  )
  const example = {
    action: document.capabilities[0],
    target: 'example',
    parameters: { amount: 100, currency: 'EUR' },
    signals: Object.fromEntries(signals),
  }
  return JSON.stringify(example, null, 2)
}

export function TryPolicy({ of, me }: { readonly of: PolicyDetail; readonly me: Me }) {
  const [tried, setTried] = useState<Tried>({})
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setTried(await evaluated(fieldOf(event.currentTarget, 'action'), of, me))
  }
  const { evaluation, problem } = tried
  const decision = evaluation?.decision
  return (
    <Panel title="Try it">
      <p class="quiet">
        Nothing is executed, stored or signed. Values that the service would count itself are taken from your
        input.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          An action, as JSON
          <textarea name="action" rows={12} spellcheck={false} defaultValue={exampleOf(of)} />
        </label>
        <button type="submit">Decide</button>
      </form>
      <div role="status">
        <Problem text={problem} />
        {decision && (
          <p class="sentence">
            <Badge status={decision.outcome} /> by{' '}
            {decision.matchedRuleId === null ? 'no rule' : <code>{decision.matchedRuleId}</code>}:{' '}
            {decision.reason}
          </p>
        )}
        {evaluation !== undefined && evaluation.problems.length > 0 && (
          <ul class="plain">
            {evaluation.problems.map(({ path, message }) => (
              <li key={path}>
                <code>{path}</code> <Said text={message} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  )
}

async function evaluated(text: string, { name, version }: PolicyDetail, me: Me): Promise<Tried> {
  let given: {
    readonly action?: unknown
    readonly target?: unknown
    readonly parameters?: unknown
    readonly signals?: unknown
  }
  try {
    given = JSON.parse(text) as typeof given
  } catch (error) {
    return { problem: `This is no JSON: ${(error as Error).message}` }
  }
  const [businessTransactionId, authorityId, authorizationId, intentId] = Array.from({ length: 4 }, () =>
    crypto.randomUUID(),
  )
  const now = new Date().toISOString()
  const { action, target, parameters, signals } = given ?? {}
  try {
    const evaluation = await post<Evaluation>('/sandbox/evaluate', {
      businessTransactionId,
      metadata: { businessTransactionId, sourceSystem: 'console' },
      authority: { authorityId, authorityType: 'SERVICE', principalId: me.callerId, issuedAt: now },
      authorization: { authorizationId, authorityId, purpose: 'a try', issuedAt: now },
      intent: { intentId, authorizationId, action, target, parameters, createdAt: now },
      policy: { name, version, schemaVersion: '1.0.0' },
      signals,
    })
    return { evaluation }
  } catch (error) {
    return { problem: problemText(error) }
  }
}
