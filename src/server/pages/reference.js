// Starts Redoc on GET /reference. No search: its index is built by a worker made from a blob, which the page's policy forbids.
Redoc.init(
  '/openapi.json',
  {
    disableSearch: true,
    nativeScrollbars: true,
    theme: {
      typography: {
        fontFamily: 'system-ui, sans-serif',
        headings: { fontFamily: 'system-ui, sans-serif' },
        code: { fontFamily: 'ui-monospace, monospace' },
      },
    },
  },
  document.getElementById('reference'),
)
