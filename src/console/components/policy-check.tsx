// The result of the service's own check of a policy, while somebody types it.
import { useState } from 'preact/hooks'
import type { PolicyCheck } from '../../formats/schemas/sandbox.ts'
import { counted } from '../../formats/text/text.ts'
import { againAfterMs, isAborted, post, problemText } from '../api.ts'
import { pause, useFollowed } from '../hooks.ts'
import { Hash, Problem, Said } from './basic.tsx'
import type { Draft } from './policy-text.tsx'

/** The most characters that the check takes. */
const CHARACTERS_MAX = 65_536
/** Wait after the last key: a request for each letter would use up the human's budget. */
const PAUSE_MS = 400

interface Check {
  /** The check of the present text; the previous check while another is in progress. */
  readonly checked: PolicyCheck | undefined
  readonly checking: boolean
  readonly problem: string | undefined
  readonly again: () => void
}

/** Has the service check a draft, `PAUSE_MS` after the last key. */
export function useCheck({ text, cases, retires }: Draft): Check {
  const [{ of, checked, problem }, setState] = useState<{
    of?: string
    checked?: PolicyCheck
    problem?: string
  }>({})
  const [round, setRound] = useState(0)
  const asked = JSON.stringify([text, cases, retires, round])
  useFollowed(() => {
    let waitMs = PAUSE_MS
    return async (signal) => {
      if (text === '') {
        setState({})
        return undefined
      }
      if (waitMs > 0) await pause(waitMs, signal)
      waitMs = 0
      const tooLong = problemOfLength('text has', text) ?? problemOfLength('cases have', cases)
      if (tooLong !== undefined) {
        setState({ of: asked, problem: tooLong })
        return undefined
      }
      try {
        const body = {
          policy: text,
          ...(cases.trim() === '' ? {} : { cases }),
          ...(retires.length === 0 ? {} : { retires }),
        }
        setState({ of: asked, checked: await post<PolicyCheck>('/sandbox/policies/check', body, { signal }) })
        return undefined
      } catch (error) {
        if (isAborted(error)) throw error
        setState({ of: asked, problem: problemText(error) })
        return againAfterMs(error)
      }
    }
  }, asked)
  return { checked, checking: of !== asked, problem, again: () => setRound(round + 1) }
}

function problemOfLength(whatHas: string, { length }: string): string | undefined {
  if (length <= CHARACTERS_MAX) return undefined
  return `The ${whatHas} ${length} characters, and may have at most ${CHARACTERS_MAX}.`
}

export function Checked({
  of: { mistakes, warnings, contentHash, cases, wouldAnswer, openChange },
  goTo,
  takeNext,
}: {
  readonly of: PolicyCheck
  readonly goTo: (line: number) => void
  /** Gives the text the next version that is free. */
  readonly takeNext: () => void
}) {
  return (
    <>
      {mistakes.length > 0 && (
        <>
          <p>
            <strong>{counted(mistakes.length, 'mistake')}</strong>, and nothing to propose:
          </p>
          <ul class="plain mistakes">
            {mistakes.map(({ line, column, rule, part, message }, i) => (
              <li key={i}>
                {line !== undefined && (
                  <button type="button" onClick={() => goTo(line)}>
                    line {line}
                    {column !== undefined && `, column ${column}`}
                  </button>
                )}{' '}
                {rule !== undefined && (
                  <>
                    rule <Said text={[rule, part].filter(Boolean).join(', ')} />:{' '}
                  </>
                )}
                <Said text={message} />
              </li>
            ))}
          </ul>
        </>
      )}
      {contentHash !== undefined && (
        <p>
          No mistake. Content <Hash value={contentHash} />
        </p>
      )}
      {openChange === undefined ? (
        <Problem text={wouldAnswer?.error} />
      ) : (
        <p class="caution">
          A change of this version is open already:{' '}
          <a href={`/console/changes/policy/${openChange}`}>have it approved or rejected</a>, or{' '}
          <button type="button" onClick={takeNext}>
            take the next version that is free
          </button>
        </p>
      )}
      {cases !== undefined && (
        <>
          <p>
            {cases.failures.length === 0
              ? `${counted(cases.count, 'case')} hold.`
              : `The cases do not hold, so there is nothing to propose:`}
            {cases.undecided.length > 0 && ` No case is decided by ${cases.undecided.join(', ')}.`}
          </p>
          {cases.failures.length > 0 && (
            <ul class="plain">
              {cases.failures.map((line) => (
                <li key={line}>
                  <Said text={line} />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      {warnings.length > 0 && (
        <>
          <p>{counted(warnings.length, 'warning')}, which whoever approves it reads too:</p>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>
                <Said text={warning} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
