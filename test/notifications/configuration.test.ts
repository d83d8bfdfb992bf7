// NOTIFICATIONS, the file that says how approvers are told: what it takes, and what is wrong with what it does not take.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readNotifications } from '../../src/server/notifications/configuration.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-notifications-'))
  writeFileSync(join(folder, 'slack-url'), 'https://hooks.slack.com/services/T0/B0/x\n')
  writeFileSync(join(folder, 'password'), 'a password\n')
  writeFileSync(join(folder, 'secret'), `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`)
})
afterAll(() => rmSync(folder, { recursive: true }))

function read(yaml: string, { production = true } = {}) {
  const file = join(folder, 'notifications.yaml')
  writeFileSync(file, yaml)
  return readNotifications(file, { production })
}

function mistakesOf(yaml: string, how?: { production: boolean }): string {
  try {
    read(yaml, how)
  } catch (error) {
    return (error as Error).message.replaceAll(join(folder, 'notifications.yaml'), 'FILE')
  }
  return 'none'
}

test('every kind is read, with its secrets from files beside the configuration', () => {
  const ways = read(`
send:
  - { name: finance, kind: slack, urlFile: slack-url, capabilities: ["vendor:pay"], details: true }
  - { name: office, kind: teams, url: "https://example.webhook.office.com/workflows/1?sig=2" }
  - { name: bot, kind: webhook, url: "https://bot.example.com/approvals", secretFile: secret }
  - name: mail
    kind: email
    server: smtps://countersign@mail.example.com
    passwordFile: password
    from: countersign@example.com
    to: [approvals@example.com]
    approvers: { dana: dana@example.com }
`)
  expect(ways).toEqual([
    {
      name: 'finance',
      kind: 'slack',
      url: 'https://hooks.slack.com/services/T0/B0/x',
      capabilities: ['vendor:pay'],
      details: true,
    },
    {
      name: 'office',
      kind: 'teams',
      url: 'https://example.webhook.office.com/workflows/1?sig=2',
      capabilities: undefined,
      details: false,
    },
    {
      name: 'bot',
      kind: 'webhook',
      url: 'https://bot.example.com/approvals',
      secret: Buffer.alloc(32, 7),
      capabilities: undefined,
      details: false,
    },
    {
      name: 'mail',
      kind: 'email',
      server: new URL('smtps://countersign@mail.example.com'),
      password: 'a password',
      from: 'countersign@example.com',
      to: ['approvals@example.com'],
      approvers: { dana: 'dana@example.com' },
      capabilities: undefined,
      details: false,
    },
  ])
})

describe('a mistake is a sentence with the file, the line and the member:', () => {
  test.each([
    ['an empty list', 'send: []', 'FILE, line 1, column 1: send must not have fewer than 1 items.'],
    ['a misspelled member', 'ways: []', 'FILE, line 1, column 1: the document must have send.'],
    [
      'an unknown kind',
      'send:\n  - { name: a, kind: pigeon }',
      'FILE, line 2: send.0: kind must be one of slack, teams, webhook, email.',
    ],
    [
      'a member of another kind',
      'send:\n  - { name: a, kind: slack, url: "https://a.example", from: a@b }',
      'FILE, line 2: send.0: it has an unknown key: from.',
    ],
    [
      'a name that is no queue',
      'send:\n  - { name: "A b", kind: slack, url: "https://a.example" }',
      'FILE, line 2: send.0: name must match pattern "^[a-z0-9][a-z0-9-]{0,39}$".',
    ],
    [
      'the same name twice',
      'send:\n  - { name: a, kind: slack, url: "https://a.example" }\n  - { name: a, kind: teams, url: "https://a.example" }',
      "FILE, line 3: send.1.name 'a' is taken by an earlier one.",
    ],
    [
      'neither url nor urlFile',
      'send:\n  - { name: a, kind: slack }',
      'FILE, line 2: send.0 must have either url or urlFile.',
    ],
    [
      'both',
      'send:\n  - { name: a, kind: slack, url: "https://a.example", urlFile: slack-url }',
      'FILE, line 2: send.0 must have either url or urlFile.',
    ],
    [
      'a URL in the clear',
      'send:\n  - { name: a, kind: slack, url: "http://a.example" }',
      'FILE, line 2: send.0.url must be an https URL without credentials and fragment, or http to a loopback address outside production.',
    ],
    [
      'a loopback URL in production',
      'send:\n  - { name: a, kind: webhook, url: "http://127.0.0.1:8090" }',
      'FILE, line 2: send.0.url must be an https URL without credentials and fragment, or http to a loopback address outside production.',
    ],
    [
      'a file that is not there',
      'send:\n  - { name: a, kind: slack, urlFile: nowhere }',
      'FILE, line 2: send.0.urlFile cannot be read: ENOENT.',
    ],
    [
      'a secret that is none',
      'send:\n  - { name: a, kind: webhook, url: "https://a.example", secretFile: password }',
      'FILE, line 2: send.0.secretFile must hold whsec_ and the Base64 of 24 to 64 bytes.',
    ],
    [
      'a password in the URL',
      'send:\n  - { name: a, kind: email, server: "smtps://me:secret@mail.example", from: a@b.example, to: [c@d.example] }',
      'FILE, line 2: send.0.server must be smtps://<user>@<host>, or smtp:// where the server offers STARTTLS; the password stands in passwordFile.',
    ],
    [
      'a user without a password',
      'send:\n  - { name: a, kind: email, server: "smtps://me@mail.example", from: a@b.example, to: [c@d.example] }',
      'FILE, line 2: send.0 must have both a user in server and passwordFile, or neither.',
    ],
    [
      'nobody to send to',
      'send:\n  - { name: a, kind: email, server: "smtps://mail.example", from: a@b.example }',
      'FILE, line 2: send.0 must have an address in to or approvers.',
    ],
    [
      'an address with a second one in it',
      'send:\n  - { name: a, kind: email, server: "smtps://mail.example", from: a@b.example, to: ["c@d.example, e@f.example"] }',
      'FILE, line 2: send.0: to.0 must match pattern "^[^\\s<>,;"]+@[^\\s<>,;"]+$".',
    ],
  ])('%s', (_, yaml, expected) => {
    const message = mistakesOf(yaml)
    expect(message.split('\n')[0]).toBe(expected)
    expect(message).not.toContain('secret@')
  })
})

test('outside production a loopback address may be in the clear', () => {
  expect(
    mistakesOf('send:\n  - { name: a, kind: webhook, url: "http://127.0.0.1:8090" }', { production: false }),
  ).toBe('none')
})
