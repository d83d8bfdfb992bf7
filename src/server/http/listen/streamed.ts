// A reply that is sent while it is made, over either server: one chunk at a time, the next one when the client has taken the last one.

/** The operations that a server offers for a reply that has begun. */
interface Sink {
  /** Resolves when the client can take more; to false when it has gone away. */
  write(chunk: Uint8Array): Promise<boolean>
  /** Ends a complete reply. */
  end(): void
  /** Ends the connection without the end of the reply, so that no client takes a part for the whole reply. */
  cut(): void
}

/** Texts are written in pieces of this size: the server keeps the bytes that the socket does not take. */
const CHUNK_BYTES = 64 * 1024

/** Never rejects. The iteration over the texts ends with the reply, however that ends. */
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
