// The console in the browser: asks who looks, then shows the page of the URL.
import { render } from 'preact'
import { followLinks } from './router.ts'
import { loadSession } from './session.ts'
import { Shell } from './shell.tsx'

followLinks()
void loadSession().then(() => render(<Shell />, document.body))
