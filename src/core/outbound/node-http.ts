// node:http without undici: an `import` reads every export, and those of WebSocket load undici and node:http2 into each thread.
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')
