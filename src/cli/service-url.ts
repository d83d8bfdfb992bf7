// The option with which a command finds the running service that it asks.
import { Option } from 'commander'

/** `--url`, else the variable COUNTERSIGN_URL, else a service on this machine. */
export const serviceUrl = () =>
  new Option('--url <address>', 'base address of the service')
    .env('COUNTERSIGN_URL')
    .default('http://127.0.0.1:3000')
