// Imported first: Node opens its debugger at SIGUSR1, to everybody on this machine, and these programs hold private keys. A listener takes the
// place of that, whatever the arguments of Node are, for all threads.
process.on('SIGUSR1', () => undefined)
