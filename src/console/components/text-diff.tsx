// The differences between two texts or documents, word by word: removed words are struck through, new words marked, and equal places left out.
import { diffArrays } from 'diff'
import { differencesOf, orderText, type Difference } from '../../formats/change-text.ts'
import { oneLine } from '../text.ts'
import { Empty } from './basic.tsx'

/** @param of a diff by places, as `diffPolicies` and the changes of the service have it */
export function DocumentDiff({ of: diff }: { readonly of: Readonly<Record<string, unknown>> }) {
  const differences = differencesOf(diff)
  const order = orderText(diff)
  if (differences.length === 0 && order === undefined) return <Empty>Nothing differs.</Empty>
  return (
    <>
      <dl class="text-diff">
        {differences.map((difference) => (
          <div key={difference.place}>
            <dt>{oneLine(difference.place)}</dt>
            <dd>
              <TextDiff {...difference} />
            </dd>
          </div>
        ))}
      </dl>
      {order !== undefined && <p>{order}</p>}
    </>
  )
}

/** A text before and after a change; undefined: there is no such text. */
export function TextDiff({ from, to }: Pick<Difference, 'from' | 'to'>) {
  return (
    <bdi class="diff-of-words">
      {piecesOf(from, to).map(({ text, kind }, i) =>
        kind === 'same' ? (
          text
        ) : kind === 'gone' ? (
          <del key={i}>
            <span class="hidden">removed: </span>
            {text}
          </del>
        ) : (
          <ins key={i}>
            <span class="hidden">added: </span>
            {text}
          </ins>
        ),
      )}
    </bdi>
  )
}

interface Piece {
  readonly text: string
  readonly kind: 'same' | 'gone' | 'new'
}

/** Texts that differ in more places than this are shown one after the other. */
const EDITS_MAX = 200

function piecesOf(from: string | undefined, to: string | undefined): readonly Piece[] {
  const [before, after] = [wordsOf(from), wordsOf(to)]
  const found = diffArrays(before, after, { maxEditLength: EDITS_MAX })
  const pieces = (found ?? []).map(({ value, added, removed }): Piece => {
    const kind = added ? 'new' : removed ? 'gone' : 'same'
    return { text: value.join(''), kind }
  })
  if (pieces.some(({ text, kind }) => kind === 'same' && /\w/.test(text))) return pieces
  const whole: readonly Piece[] = [
    { text: before.join(''), kind: 'gone' },
    { text: ' ', kind: 'same' },
    { text: after.join(''), kind: 'new' },
  ]
  return whole.filter(({ text }) => text !== '')
}

/** Words, numbers with their fraction, and every other character by itself. */
function wordsOf(text: string | undefined): string[] {
  return oneLine(text ?? '').match(/\s+|[\p{L}\p{N}_.]+|./gu) ?? []
}
