// Reads a QR code of a page as a camera would: from its pixels.
import type { Locator } from 'playwright-core'
import { decodeQR } from 'qr/decode.js'

/** @returns the text of the code */
export async function readQr(code: Locator): Promise<string> {
  const picture = (await code.screenshot({ type: 'png' })).toString('base64')
  const { width, height, data } = await code.page().evaluate(async (base64) => {
    const image = new Image()
    image.src = `data:image/png;base64,${base64}`
    await image.decode()
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')!
    context.drawImage(image, 0, 0)
    const pixels = context.getImageData(0, 0, image.width, image.height)
    return { width: image.width, height: image.height, data: Array.from(pixels.data) }
  }, picture)
  return decodeQR({ width, height, data: Uint8ClampedArray.from(data) })
}
