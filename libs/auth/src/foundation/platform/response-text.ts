/**
 * The body of an answer as text. Read piece by piece, so that an answer without end is not kept.
 *
 * @throws Error in the name of `who` for more than `mostBytes`, counted after decompression
 */
export async function responseText({ body }: Response, mostBytes: number, who: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new Error(`${who} answered too much`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
