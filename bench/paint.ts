// Measures how soon a page of the console shows its content. Only this file defines when that is.
import type { CDPSession, Page } from 'playwright-core'

/** How long a page may take to come to rest, before the next one is opened. */
const REST_MS = 2_000

/**
 * Opens a page and waits until all of it is loaded. The page is asked by the browser's own protocol, because the script that the driver would put
 * into it takes as long as a script of the page.
 * @param selector the content that a reader has come for
 * @returns milliseconds from the start of the navigation until that content stands on the page, with every figure in its place
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
 * Follows a link of the navigation, as a user of the console does: the browser loads only the data that the page asks for.
 * @param from the address of a page that has the link, but not the content that is waited for
 * @returns milliseconds from the click until the content stands there, as `paintMs`
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

/** An expression that is true when the content and every figure stand on the page. */
function stands(selector: string): string {
  const figures = `Array.from(document.querySelectorAll('.figures dd'), (figure) => figure.textContent)`
  return `document.querySelector(${JSON.stringify(selector)}) !== null && !${figures}.includes('–')`
}

/**
 * Waits until a page rests: its open requests and its drawing would count for the next page, which no user opens so soon. A page that follows
 * events asks without end, so this wait is limited.
 */
async function comeToRest(page: Page, protocol: CDPSession): Promise<void> {
  await whenHolds(protocol, `!/(Loading|Verifying)…/.test(document.body.textContent ?? '')`)
  await page.waitForLoadState('networkidle', { timeout: REST_MS }).catch(() => undefined)
  await evaluate(protocol, `new Promise((resolve) => requestIdleCallback(() => resolve()))`)
}

/** @returns when the first frame began in which the condition holds: milliseconds from the start of the navigation, or from the expression `since` */
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
