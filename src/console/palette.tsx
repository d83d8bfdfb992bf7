// The palette goes to any page, or to any object that a text names, without leaving the keyboard: `/` or Ctrl K opens it.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { store } from './api.ts'
import { Said } from './components/basic.tsx'
import { pause, useFound, useStore } from './hooks.ts'
import { pages } from './pages/index.ts'
import { lookFor, type Hit } from './pages/search.tsx'
import { navigate } from './router.ts'

/** Whether the palette is open; other components set it to open the palette. */
export const paletteOpen = store(false)

/** Wait after the last key: a request for each letter would use up the caller's rate limit. */
const PAUSE_MS = 200

interface Choice extends Hit {
  /** The key that opens the page after `g`; undefined: the page has none. */
  readonly goes?: string | undefined
}

/** @returns the pages whose names have every word of the text */
export function pagesNamed(text: string): readonly Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return pages.flatMap(({ nav, inPalette, title, group, path, goes }) => {
    const name = nav ?? (inPalette === true ? title : undefined)
    const names = `${name} ${title} ${group}`.toLowerCase()
    return name === undefined || !words.every((word) => names.includes(word))
      ? []
      : [{ what: title.startsWith(name) ? title : `${name}: ${title}`, href: path, goes }]
  })
}

export function Palette() {
  return useStore(paletteOpen) ? <Opened /> : null
}

function Opened() {
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const wanted = text.trim()
  const { hits, problem } = useHits(wanted)
  const choices: readonly Choice[] = [
    ...pagesNamed(wanted),
    ...hits,
    ...(wanted === ''
      ? []
      : [
          {
            what: `Search for ${wanted}`,
            href: `/console/search?${new URLSearchParams({ q: wanted }).toString()}`,
          },
        ]),
  ]
  const chosen = Math.min(at, choices.length - 1)

  // Opens at once, because the next key must go to its field.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen])

  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return
    dialog.current?.close()
    navigate(choice.href)
  }
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) setAt((chosen + by + choices.length) % choices.length)
    else if (event.key === 'Enter') go(choices[chosen])
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Go to"
      onClose={() => paletteOpen.set(false)}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Page, id, amount, target, caller, or part of one"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls="palette-choices"
        aria-activedescendant={`palette-${chosen}`}
        placeholder="Page, id, amount, target, caller, or part of one"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKey}
      />
      <ul id="palette-choices" role="listbox" aria-label="Where to go" ref={list}>
        {choices.map((choice, i) => (
          <li
            key={choice.href}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === chosen}
            onClick={() => go(choice)}
          >
            <Said text={choice.what} />
            {choice.goes !== undefined && <kbd>g {choice.goes}</kbd>}
          </li>
        ))}
      </ul>
      <p class="hidden" role="status">
        {problem ?? `${choices.length} to choose from`}
      </p>
      {problem !== undefined && <p class="quiet">{problem}</p>}
    </dialog>
  )
}

/** Has the service search for a text, `PAUSE_MS` after the last key. */
function useHits(wanted: string): { readonly hits: readonly Hit[]; readonly problem: string | undefined } {
  const { found: hits = [], problem } = useFound(async (signal) => {
    await pause(PAUSE_MS, signal)
    return lookFor(wanted, signal)
  }, wanted)
  return { hits, problem }
}
