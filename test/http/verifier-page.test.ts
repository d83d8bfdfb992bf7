// The pages that people save, as the service hands them out: the offline verifier (decisions §5) and the offline signer.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readPage } from '../../tools/pages.ts'
import { describeInBrowser, launchChromium, openPage } from '../browser/chromium.ts'
import type { TestService } from '../service.ts'
import { withService } from '../with-service.ts'

let service: TestService

withService((made) => ({ service } = made))

describe('GET /verifier 200', () => {
  test('is the built page, to anyone, under the name that a saved copy takes', async () => {
    const { status, text, headers } = await service.get('/verifier', { key: null })
    expect(status).toBe(200)
    expect(text).toBe(readPage('verifier.html'))
    expect(headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(headers.get('Content-Disposition')).toBe('inline; filename="countersign-verifier.html"')
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
  })

  test('the policy of the header is the page’s own, allows its script and style by their hashes, and nothing else', async () => {
    const { text, headers } = await service.get('/verifier')
    const [, inPage] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text) ?? []
    expect(headers.get('Content-Security-Policy')).toBe(`${inPage}; frame-ancestors 'none'`)
    const source = (tag: string) => {
      const [, inline = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(text) ?? []
      return `'sha256-${hash('sha256', inline, 'base64')}'`
    }
    expect(inPage?.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${source('script')}`,
      `style-src ${source('style')}`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ])
  })

  test('is cached for minutes and asked for again by its ETag', async () => {
    const { headers } = await service.get('/verifier')
    expect(headers.get('Cache-Control')).toBe('public, max-age=300')
    const again = await service.get('/verifier', { headers: { 'If-None-Match': headers.get('ETag') ?? '' } })
    expect([again.status, again.text]).toEqual([304, ''])
  })
})

describe('GET /signer 200', () => {
  test('is the built page, to anyone, under the name that a saved copy takes', async () => {
    const { status, text, headers } = await service.get('/signer', { key: null })
    expect(status).toBe(200)
    expect(text).toBe(readPage('signer.html'))
    expect(headers.get('Content-Disposition')).toBe('inline; filename="countersign-signer.html"')
  })
})

describe('GET /verifier/countersign-verify.mjs 200', () => {
  test('is the built file, to anyone, to be saved and not shown', async () => {
    const { status, text, headers } = await service.get('/verifier/countersign-verify.mjs', { key: null })
    expect([status, headers.get('Content-Type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(text).toBe(readPage('countersign-verify.mjs'))
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="countersign-verify.mjs"')
    expect(headers.get('Cache-Control')).toBe('public, max-age=300')
  })
})

describeInBrowser('GET /verifier 200 in a browser', () => {
  test('the page breaks neither of its policies, and saves itself byte for byte', async () => {
    const browser = await launchChromium()
    try {
      const { page, problems } = await openPage(browser, `${service.url}/verifier`)
      await page.getByText('Waiting for evidence and a key set.').waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Save this page' }).click(),
      ])
      expect(download.suggestedFilename()).toBe('countersign-verifier.html')
      expect(readFileSync(await download.path(), 'utf8')).toBe(readPage('verifier.html'))
      expect(problems).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
