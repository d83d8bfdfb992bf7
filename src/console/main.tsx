// The console in the browser: shows the page of the URL, and asks who looks.
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
// The requests of the page go first.
render(<Shell />, document.body)
void loadSession()
