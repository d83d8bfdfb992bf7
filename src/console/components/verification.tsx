// The offline verifier's report on the evidence that a page shows.
import { get } from '../api.ts'
import { useFound } from '../hooks.ts'
import { Panel, Problem, Said } from './basic.tsx'

/** Runs the offline verifier on the bytes that were loaded, with the keys that the service publishes. */
export function Verification({
  text,
  approvals,
}: {
  readonly text: string
  readonly approvals: readonly string[]
}) {
  const keyIds = [...new Set(approvals)]
  const { found: report, problem } = useFound(
    async () => {
      // Loaded only where it is needed: the verifier is larger than all of the rest.
      const [{ verifyEvidence }, { data: own }, ...humans] = await Promise.all([
        import('../verify.ts'),
        get<object>('/.well-known/jwks.json'),
        ...keyIds.map((keyId) => get<object>(`/keys/${encodeURIComponent(keyId)}`)),
      ])
      return verifyEvidence(text, [own, ...humans.map(({ data }) => data)])
    },
    JSON.stringify([text, keyIds]),
  )
  return (
    <Panel title="Verified in this page">
      <Problem text={problem} />
      {report === undefined && problem === undefined && <p class="quiet">Verifying…</p>}
      {report !== undefined && (
        <>
          <p class={`verdict ${report.verdict}`}>
            {report.verdict === 'valid'
              ? '✓ Every check holds'
              : report.verdict === 'invalid'
                ? '✗ Not valid'
                : '? Cannot be checked'}
          </p>
          <ul class="checks">
            {report.checks.map(({ name, problem: why }) => (
              <li key={name}>
                {why === undefined ? '✓' : '✗'} {name}
                {why === undefined ? null : <Said text={`: ${why}`} />}
              </li>
            ))}
          </ul>
          <details>
            <summary>What this does not prove</summary>
            <ul>
              <li>
                That the service is honest: this page and the keys came from it. Save the bundle, and check it
                with a verifier and keys of your own.
              </li>
              {report.notProven.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </details>
        </>
      )}
    </Panel>
  )
}
