// How soon a page of the console shows what it is opened for. Here alone is said when that is.
import type { Page } from 'playwright-core'

/**
 * Opens a page and waits until all of it is loaded.
 * @param selector what a reader has come for
 * @returns milliseconds from the begin of the navigation until that stands on the page, with every figure that is there in its place
 */
export async function paintMs(page: Page, url: string, selector: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' })
  const shown = await page.waitForFunction(
    (wanted) => {
      const figures = Array.from(document.querySelectorAll('.figures dd'), (figure) => figure.textContent)
      return document.querySelector(wanted) === null || figures.includes('–') ? 0 : performance.now()
    },
    selector,
    { polling: 'raf' },
  )
  const ms = await shown.jsonValue()
  await page.waitForFunction(() => !/(Loading|Verifying)…/.test(document.body.textContent ?? ''))
  return ms
}
