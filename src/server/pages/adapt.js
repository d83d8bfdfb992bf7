// Adds what Swagger UI leaves to its pages: the colours of the system, as on our other pages, and names of controls for screen readers.
const dark = matchMedia('(prefers-color-scheme: dark)')
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followSystem)
followSystem()

const names = {
  '#servers': 'Server',
  '.examples-select-element': 'Example',
  '.close-modal': 'Close',
}
new MutationObserver(() => {
  for (const [selector, name] of Object.entries(names))
    for (const control of document.querySelectorAll(`${selector}:not([aria-label])`))
      control.setAttribute('aria-label', name)
}).observe(document.body, { childList: true, subtree: true })
