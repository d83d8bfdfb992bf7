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
  return asking(page, async (protocol) => {
    await page.goto(url, { waitUntil: 'commit' })
    const ms = await whenHolds(protocol, stands(selector))
    await comeToRest(page, protocol)
    return ms
  })
}

/**
 * Follows a link of the navigation, as who works in the console comes to a page: the browser loads nothing but what the page asks for.
 * @param from the address of a page that has the link, and not what is waited for
 * @returns milliseconds from the click until it stands there, as `paintMs`
 */
export async function followMs(page: Page, from: string, path: string, selector: string): Promise<number> {
  return asking(page, async (protocol) => {
    await page.goto(from, { waitUntil: 'commit' })
    const link = `document.querySelector(${JSON.stringify(`header.top a[href="${path}"]`)})`
    await whenHolds(protocol, `${link} !== null`)
    await comeToRest(page, protocol)
    await evaluate(protocol, `window.clickedMs = performance.now(), ${link}.click()`)
    const ms = await whenHolds(protocol, stands(selector), 'window.clickedMs')
    await comeToRest(page, protocol)
    return ms
  })
}

async function asking<T>(page: Page, ask: (protocol: CDPSession) => Promise<T>): Promise<T> {
  const protocol = await page.context().newCDPSession(page)
  try {
    return await ask(protocol)
  } finally {
    await protocol.detach()
  }
}

/** An expression of the page. */
function stands(selector: string): string {
  const figures = `Array.from(document.querySelectorAll('.figures dd'), (figure) => figure.textContent)`
  return `document.querySelector(${JSON.stringify(selector)}) !== null && !${figures}.includes('–')`
}

/**
 * What a page still asks for and has to draw would count for the one that is opened next, which nobody opens so soon. A page that follows something
 * asks without end.
 */
async function comeToRest(page: Page, protocol: CDPSession): Promise<void> {
  await whenHolds(protocol, `!/(Loading|Verifying)…/.test(document.body.textContent ?? '')`)
  await page.waitForLoadState('networkidle', { timeout: REST_MS }).catch(() => undefined)
  await evaluate(protocol, `new Promise((resolve) => requestIdleCallback(() => resolve()))`)
}

/** @returns when the first frame began in which it holds: milliseconds from the begin of the navigation, or from `since`, an expression */
async function whenHolds(protocol: CDPSession, condition: string, since = '0'): Promise<number> {
  return (await evaluate(
    protocol,
    `new Promise((resolve) => {
      const look = () => (${condition} ? resolve(performance.now() - ${since}) : requestAnimationFrame(look))
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
