// The head of every page except the console's: links to the first page and to the others. header.css gives it and the console's head one look.
import { pages } from './pages.ts'

/** The mark beside the name, in the colours of the page. */
export const MARK =
  '<svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="3"/><path d="M4 8.5l3 3 5.5-7"/></svg>'

/**
 * @param current path of the page that it stands on
 * @param more HTML behind the links, such as a search
 * @param attributes of the element, with a space before them
 */
export function pageHeader(current: string, more = '', attributes = ''): string {
  const links = pages.map(({ path, title, ...named }) => {
    const here = path === current ? ' aria-current="page"' : ''
    return `<li><a href="${path}"${here}>${'short' in named ? named.short : title}</a></li>`
  })
  return `<header class="top"${attributes}>
<a class="brand" href="/">${MARK}Countersign</a>
<nav aria-label="Pages"><ul>
${links.join('\n')}
</ul></nav>
${more}</header>`
}
