/**
 * A part of an HTTP field without the whitespace that may surround it: spaces and tabs (RFC 9110 §5.6.3, RFC 6265 §5.2).
 * `String.trim` removes other characters, too, such as U+00A0. Names that differ for a browser would be equal here.
 */
export const fieldText = (part: string): string => part.replaceAll(/^[ \t]+|[ \t]+$/g, '');

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
