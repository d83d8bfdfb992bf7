// Text of strangers in messages: whatever a mail or chat program would make a link of is broken, and what is none stays readable.
import { expect, test } from 'vitest'
import type { StandingRequest } from '../../src/core/tables/approval-requests.ts'
import { mailOf } from '../../src/server/notifications/messages.ts'
import { noticesOf } from '../../src/server/notifications/notice.ts'

function mailAbout(target: string, parameters: object = {}, note = ''): string {
  const at = '2026-11-28T00:00:00.000Z'
  const content = {
    requestId: '4f2f6a52-32b0-4c3c-9d5c-0a6d5a7d0001',
    requestedBy: 'bot',
    principalId: 'bot',
    capability: 'vendor:pay',
    target,
    parameters,
    signals: {},
    policy: { name: 'p', version: '1.0.0', contentHash: '0'.repeat(64) },
    quorum: 1,
    note,
    createdAt: at,
    expiresAt: at,
  }
  const request = {
    requestId: content.requestId,
    quorum: 1,
    status: 'PENDING',
    approvals: [],
    approvers: ['alice'],
    body: JSON.stringify(content),
  } as unknown as StandingRequest
  const notices = noticesOf([request], {
    details: true,
    capabilities: undefined,
    consoleOrigin: 'https://console.example',
  })
  return mailOf(notices).text
}

/** Mail and chat programs look for these, after linkify-it and Outlook: schemes, host names, addresses, shares. */
const LINKS =
  /[a-z][a-z0-9+.-]*:\/\/\S|\b(?:mailto|tel|sms|sip|xmpp|callto|skype|facetime|webcal|news|file|magnet|javascript|data):\S|\d{1,3}(?:\.\d{1,3}){3}|[\p{L}\p{N}-]+[.。．｡][\p{L}\p{N}-]*\p{L}|\\\\\S/giu

// proves abuse: A requester puts its own link
test.each([
  ['a scheme and a host', 'https://evil.example/console/requests/1'],
  ['upper case', 'HTTPS://EVIL.EXAMPLE'],
  ['a host alone', 'see evil.example'],
  ['www', 'www.evil.example'],
  ['a mail address', 'ceo@evil.example'],
  ['an address scheme', 'mailto:ceo@localhost'],
  ['an address by number', 'http://10.0.0.1/x'],
  ['a host that is not ASCII', 'http://böse.example und böse。example'],
  ['a program’s own scheme', 'slack://open?team=T0'],
  ['a share', String.raw`\\evil\share`],
  ['a host in brackets', '<https://[2001:db8::1]/>'],
  ['digits before a name', '1.evil.example'],
  ['an address without a scheme', '10.0.0.1/x'],
  ['an address with a port, behind a word', 'see 192.168.200.30:8443'],
  ['a scheme of another program', 'skype:ceo?call, magnet:?xt=1 and WEBCAL:x'],
  ['a link in Markdown', '[sign here](javascript:alert(1))'],
])('%s is no link, as target, parameter, name of one and note', (_, text) => {
  const [head, ...rest] = mailAbout(text, { [text]: text, list: [{ deep: text }] }, text).split(
    'https://console.example/console/requests/4f2f6a52-32b0-4c3c-9d5c-0a6d5a7d0001',
  )
  expect(rest).toHaveLength(1)
  expect((head + rest[0]!).match(LINKS)).toBeNull()
})

test('amounts, ids and sentences stay as they are', () => {
  const text = 'vendor:17, 1.50 EUR. Order 3.2.1; news: see B-7 at 10:30, data: none'
  const mail = mailAbout(text, { amount: 1250.75 }, text)
  expect(mail.split(text)).toHaveLength(3)
  expect(mail).toContain('{"amount":1250.75}')
})
