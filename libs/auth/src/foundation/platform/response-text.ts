/**
 * Reads the body of a response as text. It reads chunk by chunk, so that an endless response is not kept in memory.
 *
 * @param sender names the server in the error message
 * @throws Error for more than `maxBytes` bytes, counted after decompression
 */
export async function responseText({ body }: Response, maxBytes: number, sender: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`${sender} sent more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
