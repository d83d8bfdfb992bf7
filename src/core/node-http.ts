// node:http without undici: an `import` reads every export, and those of WebSocket load undici and node:http2 into each thread.
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')
