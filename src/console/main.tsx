// The console in the browser: asks who looks, then shows the page of the URL.
import { render } from 'preact'
import { followLinks } from './router.ts'
import { checkSession, loadSession } from './session.ts'
import { Shell } from './shell.tsx'

followLinks()
addEventListener('focus', () => void checkSession().catch(() => undefined))
void loadSession().then(() => render(<Shell />, document.body))
