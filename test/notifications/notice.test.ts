// Text of strangers in messages: whatever a mail or chat program would make a link of is broken, and what is none stays readable.
import { expect, test } from 'vitest'
import type { StandingRequest } from '../../src/store/tables/approval-requests.ts'
import { mailOf, slackMessage, teamsMessage } from '../../src/server/notifications/messages.ts'
import { noticesOf } from '../../src/server/notifications/notice.ts'

function noticesAbout(target: string, parameters: object = {}, note = '', count = 1) {
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
  return noticesOf(
    Array.from({ length: count }, () => request),
    {
      details: true,
      capabilities: undefined,
      consoleOrigin: 'https://console.example',
    },
  )
}

const mailAbout = (target: string, parameters?: object, note?: string): string =>
  mailOf(noticesAbout(target, parameters, note)).text

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

/** docs.slack.dev, "Section block" and "Header block". */
const SLACK_SECTION_MAX = 3_000
/** learn.microsoft.com, "Create incoming webhooks": 28 KB. */
const TEAMS_BYTES_MAX = 28 * 1024

// proves abuse: A requester writes texts that a chat refuses
test.each([
  ['links', 'a.'.repeat(256)],
  ['characters of four bytes', '\u{1f511}'.repeat(256)],
  ['what JSON escapes', '"\\'.repeat(256)],
  ['characters that are replaced', '\u202e'.repeat(512)],
])('texts of %s, as long as they may be, stay below the limits of the chats', (_, text) => {
  for (const count of [1, 2, 5, 10, 60]) {
    const notices = noticesAbout(
      text,
      { [text]: text, list: Array(20).fill(text) },
      text.slice(0, 500),
      count,
    )
    const message = { id: 'm', notices }
    expect(Buffer.byteLength(JSON.stringify(teamsMessage(message)))).toBeLessThan(TEAMS_BYTES_MAX)
    const { blocks } = slackMessage(message) as { blocks: { text?: { text: string } }[] }
    for (const { text: block } of blocks) expect(block?.text.length ?? 0).toBeLessThan(SLACK_SECTION_MAX)
  }
})

test('a text that is cut says how long it is', () => {
  expect(mailAbout('x'.repeat(501))).toContain(` ${'x'.repeat(500)}… (501 characters)\n`)
  expect(mailAbout('x'.repeat(500))).not.toContain('characters')
})
