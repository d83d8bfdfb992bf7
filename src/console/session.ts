// Log in, log out, and who is logged in. The key goes to the service once and is not kept here: the cookie cannot be read by any script.
import { forgetDrafts } from './draft.ts'
import { ApiProblem, forgetPageSecret, get, post, session, type Me } from './api.ts'
import { loginBy } from './passkey.ts'

/** Who was logged in when this browser asked last. It goes with a logout, and counts for this build alone: another one may know more of a human. */
const REMEMBERED = 'countersign-session'

/** A page is drawn by it at once, while the service is asked who is logged in: its requests need not wait for that answer. */
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

/** Asks who is logged in: another tab of this browser may have logged out, or somebody else in. */
export async function loadSession(): Promise<void> {
  const before = session.get()
  try {
    const { data } = await get<Me | null>('/console/me')
    // Somebody has logged in or out meanwhile: the answer is of before.
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

/** @throws ApiProblem, or what `problemOfPasskey` has a sentence for */
export async function logInByPasskey(): Promise<void> {
  await post('/console/login/passkey', await loginBy(await newChallenge()))
  await loadSession()
}

/** What a passkey signs to log in, or to be registered for it; the service takes it once, within two minutes. */
export async function newChallenge(): Promise<string> {
  return (await post<{ challenge: string }>('/console/login/challenge', {})).challenge
}

export async function logOut(): Promise<void> {
  await post('/console/logout', {}).catch(() => undefined)
  forgetPageSecret()
  forgetDrafts()
  session.set(null)
}
