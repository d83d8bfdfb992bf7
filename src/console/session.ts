// Login, logout, and the logged-in human. The key is sent to the service once and not kept here; no script can read the session's cookie.
import { forgetDrafts } from './draft.ts'
import { ApiProblem, forgetPageSecret, get, post, session, type Me } from './api.ts'
import { loginBy } from './passkey.ts'

/** The logged-in human at the last check. A logout removes the entry. It is valid for this build only: another build may know more of a human. */
const REMEMBERED = 'countersign-session'

/** Draws a page at once for the remembered human, so that its requests need not wait until the service has said who is logged in. */
export function rememberSession(): void {
  const { of, me } = readRemembered()
  if (of === import.meta.url && me !== undefined && Date.parse(me.expiresAt) > Date.now()) session.set(me)
  session.follow(() => {
    const now = session.get()
    if (now) localStorage.setItem(REMEMBERED, JSON.stringify({ of: import.meta.url, me: now }))
    else if (now === null) localStorage.removeItem(REMEMBERED)
  })
}

function readRemembered(): { readonly of?: string; readonly me?: Me } {
  try {
    return JSON.parse(localStorage.getItem(REMEMBERED) ?? '{}') as { of?: string; me?: Me }
  } catch {
    return {}
  }
}

/** Asks the service who is logged in: another tab of this browser may have logged out, or logged somebody else in. */
export async function loadSession(): Promise<void> {
  const before = session.get()
  try {
    const { data } = await get<Me | null>('/console/me')
    // Somebody has logged in or out meanwhile, so the reply is out of date.
    if (session.get() !== before) return
    if (data !== null) forgetDrafts({ butOf: data.callerId })
    if (JSON.stringify(data) !== JSON.stringify(before)) session.set(data)
  } catch (error) {
    // If the service is away, the banner says so, and the session stays.
    if (session.get()) return
    if (error instanceof ApiProblem) session.set(null)
    else setTimeout(() => void loadSession(), 2_000)
  }
}

/** @throws ApiProblem */
export async function logIn(key: string): Promise<void> {
  await post('/console/login', { key })
  await loadSession()
}

/** @throws ApiProblem, or an error that `problemOfPasskey` explains */
export async function logInByPasskey(): Promise<void> {
  await post('/console/login/passkey', await loginBy(await newChallenge()))
  await loadSession()
}

/** Requests the challenge that a passkey signs at login or registration: valid for two minutes, accepted once. */
export async function newChallenge(): Promise<string> {
  return (await post<{ challenge: string }>('/console/login/challenge', {})).challenge
}

export async function logOut(): Promise<void> {
  await post('/console/logout', {}).catch(() => undefined)
  forgetPageSecret()
  forgetDrafts()
  session.set(null)
}
