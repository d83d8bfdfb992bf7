// Messages in the format of each chat. Text stands only where the chat shows it as it is: the requester's words cannot make links
// or mentions.
import { counted } from '../../formats/text/text.ts'
import { CAUTION, partsOf, titleOf, type Message, type Notice } from './notice.ts'

/** Chats limit the size of their messages: further requests are only counted. */
const LISTED_MAX = 10
const LOOK = 'Look at it, then sign or decline it'

function listed(notices: readonly Notice[]) {
  const more = notices.length - LISTED_MAX
  return {
    title: titleOf(notices),
    parts: partsOf(notices).slice(0, LISTED_MAX),
    rest:
      more > 0 ? [`${counted(more, 'more request')} of this caller: the console shows all that wait.`] : [],
  }
}

const section = (text: object) => ({ type: 'section', text })
const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** The body of a Slack incoming webhook (docs.slack.dev "Sending messages using incoming webhooks"). */
export function slackMessage({ notices }: Message): object {
  const { title, parts, rest } = listed(notices)
  return {
    // For notifications and screen readers; shown in place of the blocks, the text is read as mrkdwn.
    text: escapedForSlack(title),
    unfurl_links: false,
    blocks: [
      { type: 'header', text: plain(title.slice(0, 150)) },
      ...parts.flatMap(({ facts, link, nextStep }) => [
        section(plain(facts.map(([name, value]) => `${name}: ${value}`).join('\n'))),
        section(link === undefined ? plain(nextStep) : { type: 'mrkdwn', text: `<${link}|${LOOK}>` }),
      ]),
      ...rest.map((text) => section(plain(text))),
      { type: 'context', elements: [plain(CAUTION)] },
    ],
  }
}

/** The three characters that are control characters of mrkdwn. */
function escapedForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const line = (text: string, style: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...style }],
})

/** The body of a Teams workflow that posts adaptive cards. A TextRun shows its text as it is; a TextBlock would read Markdown. */
export function teamsMessage({ notices }: Message): object {
  const { title, parts, rest } = listed(notices)
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          version: '1.4',
          body: [
            line(title, { weight: 'bolder', size: 'medium' }),
            ...parts.flatMap(({ facts, link, nextStep }) => [
              ...facts.map(([name, value]) => line(`${name}: ${value}`)),
              link === undefined
                ? line(nextStep)
                : { type: 'ActionSet', actions: [{ type: 'Action.OpenUrl', title: LOOK, url: link }] },
            ]),
            ...rest.map((text) => line(text)),
            line(CAUTION, { isSubtle: true, size: 'small' }),
          ],
        },
      },
    ],
  }
}

const MESSAGES_AGAIN = {
  reminder: 'approval_request.still_wanted',
  escalation: 'approval_request.escalated',
} as const

/**
 * The body of a generic webhook, as Standard Webhooks recommends. Its members describe the first request; `requests` has all. The values are
 * data for a program, exactly as they were submitted.
 */
export function webhookMessage({ notices }: Message): object {
  const { again } = notices[0]!
  const requests = notices.map(({ link, details, again: _again, ...facts }) => ({
    ...facts,
    ...(link === undefined ? {} : { link }),
    ...details,
  }))
  const { createdAt, ...first } = requests[0]!
  return {
    type: again === undefined ? 'approval_request.opened' : MESSAGES_AGAIN[again.why],
    timestamp: again?.at ?? createdAt,
    data: { ...first, count: requests.length, requests },
  }
}

/** Subject and plain text of a mail. */
export function mailOf(notices: readonly Notice[]): { readonly subject: string; readonly text: string } {
  const title = titleOf(notices)
  const parts = partsOf(notices).map(({ facts, nextStep }) => {
    const width = Math.max(...facts.map(([name]) => name.length))
    return [...facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`), '', nextStep, ''].join('\n')
  })
  return { subject: title, text: [`${title}.`, '', ...parts, CAUTION, ''].join('\n') }
}
