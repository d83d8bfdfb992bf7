// A notice in the form of each chat. Text stands only where the chat shows it as it is: what the requester wrote cannot make links or mentions.
import { CAUTION, factsOf, nextStepOf, titleOf, type Notice } from './notice.ts'

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** The body of a Slack incoming webhook (docs.slack.dev "Sending messages using incoming webhooks"). */
export function slackMessage(notice: Notice): object {
  const facts = factsOf(notice).map(([name, value]) => `${name}: ${value}`)
  return {
    // For notifications and screen readers; shown in the place of blocks it is mrkdwn.
    text: escapedForSlack(titleOf(notice)),
    unfurl_links: false,
    blocks: [
      { type: 'header', text: plain(titleOf(notice).slice(0, 150)) },
      { type: 'section', text: plain(facts.join('\n')) },
      {
        type: 'section',
        text:
          notice.link === undefined
            ? plain(nextStepOf(notice))
            : { type: 'mrkdwn', text: `<${notice.link}|Look at it, then sign or decline it>` },
      },
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
export function teamsMessage(notice: Notice): object {
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
            line(titleOf(notice), { weight: 'bolder', size: 'medium' }),
            ...factsOf(notice).map(([name, value]) => line(`${name}: ${value}`)),
            ...(notice.link === undefined ? [line(nextStepOf(notice))] : []),
            line(CAUTION, { isSubtle: true, size: 'small' }),
          ],
          actions:
            notice.link === undefined
              ? []
              : [{ type: 'Action.OpenUrl', title: 'Look at it, then sign or decline it', url: notice.link }],
        },
      },
    ],
  }
}

/** The body of a generic webhook, as Standard Webhooks recommends one. */
export function webhookMessage({ createdAt, link, details, ...facts }: Notice): object {
  return {
    type: 'approval_request.opened',
    timestamp: createdAt,
    data: { ...facts, ...(link === undefined ? {} : { link }), ...details },
  }
}

/** Subject and plain text of a mail. */
export function mailOf(notice: Notice): { readonly subject: string; readonly text: string } {
  const facts = factsOf(notice)
  const width = Math.max(...facts.map(([name]) => name.length))
  return {
    subject: titleOf(notice),
    text: [
      `${titleOf(notice)}.`,
      '',
      ...facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
      '',
      nextStepOf(notice),
      '',
      CAUTION,
      '',
    ].join('\n'),
  }
}
