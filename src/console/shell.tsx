// The frame of every page: navigation, banner, footer, and the keys.
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemText, session, unreachableSince, type Me } from './api.ts'
import { fieldOf } from './forms.ts'
import { failing, useLater, useLoaded, useStore, useTitle, useTitleCount } from './hooks.ts'
import { groups, pages } from './pages/index.ts'
import { useWaitingCount } from './queue.ts'
import { Palette, paletteOpen } from './palette.tsx'
import { fit, navigate, place } from './router.ts'
import { problemOfPasskey } from './passkey.ts'
import { logIn, logInByPasskey, logOut } from './session.ts'
import { Problem, Time } from './components/basic.tsx'

export function Shell() {
  const me = useStore(session)
  const hadSession = useRef(false)
  hadSession.current ||= Boolean(me)
  if (me === undefined) return <OutOfDate />
  return me === null ? <Login again={hadSession.current} /> : <Frame key={me.callerId} me={me} />
}

function Frame({ me }: { readonly me: Me }) {
  const { path, query } = useStore(place)
  const found = fit(pages, path)
  const main = useRef<HTMLElement>(null)
  const [helps, setHelps] = useState(false)
  useTitle(found?.page.title ?? 'Not found')
  // A reader with a screen reader, or with a keyboard, starts at the new page.
  useEffect(() => {
    const has = document.activeElement
    // Except where going back has already focused a row. A focused element of the previous page is removed with that page.
    const isOfThis = main.current?.contains(has) === true && has?.closest('[inert]') === null
    if (!isOfThis) main.current?.focus({ preventScroll: true })
  }, [path])
  useEffect(() => followKeys(() => setHelps((shown) => !shown)), [])
  const Page = found?.page.view
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href="/console">
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <rect width="16" height="16" rx="3" />
            <path d="M4 8.5l3 3 5.5-7" />
          </svg>
          Countersign
        </a>
        <Navigation path={path} me={me} />
        <SearchButton />
        <div class="who">
          <span title={me.approverId === null ? me.credentialHolderType : `approver ${me.approverId}`}>
            {me.callerId}
          </span>
          <button type="button" onClick={() => void logOut()}>
            Log out
          </button>
        </div>
      </header>
      <OutOfDate />
      <main id="main" ref={main} tabIndex={-1}>
        {found === undefined || Page === undefined ? (
          <>
            <h1>Not found</h1>
            <p>
              There is no such page. <a href="/console">Go to the overview</a>.
            </p>
          </>
        ) : (
          <Page
            key={found.page.keepsLast ? found.page.path : path}
            params={found.params}
            query={query}
            me={me}
          />
        )}
      </main>
      <Warnings />
      <footer class="bottom">
        <span>Countersign {me.version}</span>
        <span>{location.host}</span>
        <span class="session-end">
          Session over <Time at={me.expiresAt} />
        </span>
        <button type="button" onClick={() => setHelps(true)}>
          Keys: ?
        </button>
      </footer>
      <Palette />
      {helps && <Help onClose={() => setHelps(false)} />}
    </>
  )
}

/** The groups, and the pages of the open group. */
function Navigation({ path, me }: { readonly path: string; readonly me: Me }) {
  const count = useWaitingCount(me)
  const listed = pages.filter(({ nav }) => nav !== undefined)
  const shown = fit(pages, path)?.page
  const isHere = ({ path: to }: { readonly path: string }) => isWithin(shown?.under ?? path, to)
  const open = listed.find(isHere)?.group ?? shown?.group ?? 'Work'
  useTitleCount(count)
  return (
    <nav aria-label="Console">
      <ul>
        {groups.map((group) => (
          <li key={group}>
            <a
              href={listed.find((page) => page.group === group)?.path ?? '/console'}
              aria-current={group === open}
            >
              {group}
              {group === 'Work' && <Count of={me} text={count} />}
            </a>
          </li>
        ))}
      </ul>
      <ul>
        {listed
          .filter(({ group }) => group === open)
          .map((page) => (
            <li key={page.path}>
              <a href={page.path} aria-current={isHere(page) ? 'page' : undefined}>
                {page.nav}
                {page.path === '/console/inbox' && <Count of={me} text={count} />}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  )
}

/** The number of requests that wait for an approver. Its space is reserved before the number is known, or the navigation could wrap later. */
function Count({ of: { approverId }, text }: { readonly of: Me; readonly text: string }) {
  return approverId === null ? null : <span class="count">{text}</span>
}

/** Opens the palette, instead of being a search field: the palette also finds pages, and shows results while the reader types. */
function SearchButton() {
  return (
    <button type="button" class="search" aria-haspopup="dialog" onClick={() => paletteOpen.set(true)}>
      Search <kbd>/</kbd>
    </button>
  )
}

function isWithin(path: string, page: string): boolean {
  return path === page || (page !== '/console' && path.startsWith(`${page}/`))
}

function OutOfDate() {
  const since = useStore(unreachableSince)
  const isFailing = useStore(failing) > 0
  if (since === null)
    return isFailing ? (
      <p class="banner" role="status">
        Not all of this page could be loaded. What is missing is asked for again.
      </p>
    ) : null
  return (
    <p class="banner" role="status">
      The service does not answer; it last did before <time>{new Date(since).toLocaleTimeString()}</time>.
      What you see may be out of date.
    </p>
  )
}

/** The warnings of GET /ready and of the startup log. They load last and stand at the bottom, so that nothing moves under the pointer. */
function Warnings() {
  const { data } = useLoaded<{ readonly warnings?: readonly string[] }>(useLater('/ready'), 60_000)
  const warnings = data?.warnings ?? []
  if (warnings.length === 0) return null
  return (
    <aside class="banner low" aria-label="Warnings of the service">
      <details>
        <summary>
          {warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`} of the service
        </summary>
        <ul>
          {warnings.map((warning) => (
            <li key={warning}>
              <Warning text={warning} />
            </li>
          ))}
        </ul>
      </details>
    </aside>
  )
}

/** A warning that ends with an API route for details links to the page with these details. */
function Warning({ text }: { readonly text: string }) {
  const [, said, route] = /^(.*): GET (\/[a-z-]+)\.$/s.exec(text) ?? []
  if (said === undefined || route !== '/event-endpoints') return <>{text}</>
  return (
    <>
      {said}: <a href="/console/deliveries">Deliveries</a> shows which.
    </>
  )
}

function Login({ again }: { readonly again: boolean }) {
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  useTitle('Log in')
  /** @param unknown the message where the service does not know the key or passkey */
  const enter = async (way: () => Promise<void>, unknown: string) => {
    setBusy(true)
    setProblem(undefined)
    try {
      await way()
    } catch (error) {
      const text = problemOfPasskey(error) ?? problemText(error)
      setProblem(text === 'authentication required' ? unknown : text)
    } finally {
      setBusy(false)
    }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const key = fieldOf(event.currentTarget, 'key')
    void enter(() => logIn(key), 'This key is not known here.')
  }
  return (
    <main class="login">
      <h1>Countersign</h1>
      {again && <p role="status">Your session is over. Log in to go on at the same page.</p>}
      <form onSubmit={submit}>
        <label>
          Your key
          {/* Not a new password. No script can read the typed key once it has been sent. */}
          <input name="key" type="password" required autocomplete="current-password" placeholder="csk_…" />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          Log in
        </button>
        <button
          type="button"
          disabled={busy}
          onClick={() =>
            void enter(
              logInByPasskey,
              'This passkey logs nobody in: it is not registered for that, or the key that registered it has ended. Log in with your key.',
            )
          }
        >
          Log in with a passkey
        </button>
        <Problem text={problem} />
      </form>
      <p class="quiet">
        For humans and auditors: a key whose caller is a <code>USER</code> or has <code>readAll</code>. The
        session lasts eight hours, or half an hour without use. It lets you look; what you decide needs your
        signature. Once you are in, you can make a passkey to log in with, and need not type the key again.
      </p>
    </main>
  )
}

const KEYS = [
  ['j / k', 'next or previous row'],
  ['Enter', 'open the row'],
  ['n / p', 'next or previous request that waits for you'],
  ['i', 'inbox'],
  ['/ or Ctrl K', 'go to any page, or search'],
  ...pages.flatMap(({ nav, goes }) =>
    goes === undefined ? [] : [[`g ${goes}`, nav!.toLowerCase()] as const],
  ),
  ['?', 'this help'],
] as const

function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl class="members">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">No key approves or declines anything.</p>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}

const GOES: ReadonlyMap<string | undefined, string> = new Map(pages.map(({ goes, path }) => [goes, path]))

/** @returns a function that removes the listener */
function followKeys(toggleHelp: () => void): () => void {
  let wentG = false
  const onKey = (event: KeyboardEvent) => {
    const { key, target } = event
    if ((event.ctrlKey || event.metaKey) && key === 'k' && document.querySelector('dialog[open]') === null) {
      paletteOpen.set(true)
      event.preventDefault()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (target instanceof Element && target.closest('input, select, textarea, dialog') !== null) return
    const goes = wentG ? GOES.get(key) : undefined
    wentG = key === 'g'
    if (goes !== undefined) navigate(goes)
    else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1)
    else if (key === 'n' || key === 'p') document.querySelector<HTMLElement>(`[data-key=${key}]`)?.click()
    else if (key === 'i') navigate('/console/inbox')
    else if (key === '?') toggleHelp()
    else if (key === '/') paletteOpen.set(true)
    else return
    event.preventDefault()
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}

/** Focuses another row. Enter then follows the focused link, as everywhere. */
function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter((row) =>
    row.checkVisibility(),
  )
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next =
    rows[at === -1 ? (by === 1 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)]
  next?.focus()
}
