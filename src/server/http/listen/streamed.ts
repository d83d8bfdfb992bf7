// A reply that is sent while it is made, over either server: one chunk at a time, the next one when the client has taken the last.

/** The acts that a server offers for a reply that has begun. */
interface Sink {
  /** Resolves when the client can take more; to false when it has gone away. */
  write(chunk: Uint8Array): Promise<boolean>
  /** The reply is whole. */
  end(): void
  /** Ends the connection without the end of the reply, so that no client takes what it got for the whole. */
  cut(): void
}

/** The size of the pieces of a text that came at once: the server keeps what the socket does not take. */
const CHUNK_BYTES = 64 * 1024

/** Never rejects. What makes the texts is ended with the reply, however that ends. */
export async function sendTexts(texts: AsyncIterable<string>, sink: Sink): Promise<void> {
  try {
    for await (const text of texts) {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
        if (!(await sink.write(bytes.subarray(at, at + CHUNK_BYTES)))) return
    }
    sink.end()
  } catch {
    // The maker of the texts has logged why.
    sink.cut()
  }
}
