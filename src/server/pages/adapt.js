// Adds what Swagger UI leaves to its pages: the colours of the system, as on our other pages, and what screen readers and the keyboard need.
const dark = matchMedia('(prefers-color-scheme: dark)')
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followSystem)
followSystem()

const attributes = {
  '#servers': { 'aria-label': 'Server' },
  '.examples-select-element': { 'aria-label': 'Example' },
  '.close-modal': { 'aria-label': 'Close' },
  '.information-container': { role: 'region', 'aria-label': 'About this API' },
  '.scheme-container': { role: 'region', 'aria-label': 'Server and key' },
  // The title of the page is above it, with nothing between.
  'h3.opblock-tag, .models > h4, .modal-ux-header h3': { role: 'heading', 'aria-level': '2' },
  'h4.opblock-title, .auth-container h4': { role: 'heading', 'aria-level': '3' },
  // By the word that it shows.
  '.modal-btn.authorize[type=submit]': { 'aria-label': 'Authorize' },
  // It calls itself a region, as each of a page does.
  '.responses-table': { role: 'table' },
  // The keyboard scrolls what it reaches.
  'pre, .body-param__example, .microlight': { tabindex: '0' },
}
new MutationObserver(() => {
  for (const [selector, added] of Object.entries(attributes))
    for (const element of document.querySelectorAll(selector))
      for (const [name, value] of Object.entries(added))
        if (element.getAttribute(name) !== value) element.setAttribute(name, value)
  // The button around it opens the operation too, and may hold nothing that takes the focus.
  for (const link of document.querySelectorAll('.opblock-summary-control a[href]'))
    link.removeAttribute('href')
}).observe(document.body, { childList: true, subtree: true })
