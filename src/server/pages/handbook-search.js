// The search of the handbook: the sections are fetched and indexed when a reader first goes to the field, and searched in the page.
const field = document.querySelector('#find')
const results = document.querySelector('#found')
const status = document.querySelector('#found-status')

/** How many sections are listed. */
const SHOWN_MAX = 8

let opened

async function open() {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import('/handbook/minisearch.js'),
    fetch('/handbook/sections.json'),
  ])
  const sections = await response.json()
  const index = new MiniSearch({
    idField: 'path',
    fields: ['title', 'chapter', 'text'],
    storeFields: ['title', 'chapter'],
    searchOptions: { boost: { title: 4, chapter: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  })
  index.addAll(sections)
  return index
}

async function find() {
  const wanted = field.value.trim()
  if (wanted === '') return show([], '')
  try {
    opened ??= open()
    const index = await opened
    // The reader has typed something else meanwhile.
    if (wanted !== field.value.trim()) return
    const hits = index.search(wanted).slice(0, SHOWN_MAX)
    show(hits, hits.length === 0 ? 'Nothing in the handbook has these words.' : `${hits.length} sections`)
  } catch {
    opened = undefined
    show([], 'The handbook cannot be searched now: the service does not answer.')
  }
}

function show(hits, said) {
  results.replaceChildren(
    ...hits.map(({ id, title, chapter }) => {
      const link = document.createElement('a')
      link.href = id
      link.append(title)
      const where = document.createElement('span')
      where.append(title === chapter ? '' : ` ${chapter}`)
      const item = document.createElement('li')
      link.append(where)
      item.append(link)
      return item
    }),
  )
  status.textContent = said
}

field.closest('form').hidden = false
field.addEventListener('focus', () => void (opened ??= open().catch(() => (opened = undefined))))
field.addEventListener('input', () => void find())
field.closest('form').addEventListener('submit', (event) => {
  event.preventDefault()
  results.querySelector('a')?.click()
})
// The arrow keys move from the field into the list and back, as in any list of choices.
field.closest('form').addEventListener('keydown', (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (event.key === 'Escape') {
    field.value = ''
    show([], '')
    field.focus()
  }
  if (by === undefined) return
  event.preventDefault()
  const places = [field, ...results.querySelectorAll('a')]
  const at = places.indexOf(document.activeElement)
  places[Math.min(Math.max(at + by, 0), places.length - 1)].focus()
})
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest?.('input') || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  field.focus()
})
