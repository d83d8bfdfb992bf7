// Starts the console in the browser: shows the page of the URL, and asks the service who is logged in.
import { render } from 'preact'
import { followLinks } from './router.ts'
import { session } from './api.ts'
import { loadSession, rememberSession } from './session.ts'
import { Shell } from './shell.tsx'

followLinks()
rememberSession()
addEventListener('focus', () => {
  if (session.get()) void loadSession()
})
// The requests of the page go before the request for the session.
render(<Shell />, document.body)
void loadSession()
