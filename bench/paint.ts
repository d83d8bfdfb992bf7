// How soon a page of the console shows what it is opened for. Here alone is said when that is.
import type { CDPSession, Page } from 'playwright-core'

/** How long a page may take to come to rest, before the next one is opened. */
const REST_MS = 2_000

/**
 * Opens a page and waits until all of it is loaded. The page is asked by the browser's own protocol: what the driver would put into it to be asked
 * takes as long as a script of the page.
 * @param selector what a reader has come for
 * @returns milliseconds from the begin of the navigation until that stands on the page, with every figure that is there in its place
 */
export async function paintMs(page: Page, url: string, selector: string): Promise<number> {
  const protocol = await page.context().newCDPSession(page)
  try {
    await page.goto(url, { waitUntil: 'commit' })
    const wanted = JSON.stringify(selector)
    const figures = `Array.from(document.querySelectorAll('.figures dd'), (figure) => figure.textContent)`
    const ms = await whenHolds(
      protocol,
      `document.querySelector(${wanted}) !== null && !${figures}.includes('–')`,
    )
    await whenHolds(protocol, `!/(Loading|Verifying)…/.test(document.body.textContent ?? '')`)
    // What it still asks for and has to draw would count for the page that is opened next: nobody opens that so soon. A page that follows something
    // never comes to rest.
    await page.waitForLoadState('networkidle', { timeout: REST_MS }).catch(() => undefined)
    await evaluate(protocol, `new Promise((resolve) => requestIdleCallback(() => resolve()))`)
    return ms
  } finally {
    await protocol.detach()
  }
}

/** @returns when the first frame began in which it holds: milliseconds from the begin of the navigation */
async function whenHolds(protocol: CDPSession, condition: string): Promise<number> {
  return (await evaluate(
    protocol,
    `new Promise((resolve) => {
      const look = () => (${condition} ? resolve(performance.now()) : requestAnimationFrame(look))
      look()
    })`,
  )) as number
}

/** @returns what the promise of an expression resolves to */
async function evaluate(protocol: CDPSession, expression: string): Promise<unknown> {
  const { result, exceptionDetails } = await protocol.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  })
  if (exceptionDetails !== undefined) throw new Error(`the page: ${exceptionDetails.text}`)
  return result.value
}
