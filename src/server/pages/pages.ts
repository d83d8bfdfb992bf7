// The pages of the service for people, beside the console: in the order in which the first page, each header and a start list them.

export const pages = [
  {
    path: '/documentation',
    title: 'Documentation',
    about: 'Try each request here in the browser, with your key.',
  },
  { path: '/reference', title: 'Reference', about: 'Read every route, its fields and its errors.' },
  { path: '/handbook', title: 'Handbook', about: 'For callers, approvers, operators and auditors.' },
  { path: '/verifier', title: 'Verifier', about: 'Check evidence offline: nothing leaves the browser.' },
  {
    path: '/signer',
    title: 'Offline signer',
    short: 'Signer',
    about: 'For approvers: save the page, and sign with the network off.',
  },
] as const
