// Adds to Swagger UI's pages the colours of the system, as on our other pages, and the attributes that screen readers and the keyboard need.
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
  // These headings stand directly below the title of the page.
  'h3.opblock-tag, .models > h4, .modal-ux-header h3': { role: 'heading', 'aria-level': '2' },
  'h4.opblock-title, .auth-container h4': { role: 'heading', 'aria-level': '3' },
  // Named by the word that it shows.
  '.modal-btn.authorize[type=submit]': { 'aria-label': 'Authorize' },
  // Swagger UI names it a region, as it does with each one on a page.
  '.responses-table': { role: 'table' },
  // The keyboard scrolls only elements that it reaches.
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
