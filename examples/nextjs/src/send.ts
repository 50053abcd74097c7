import { type NextRequest, NextResponse } from 'next/server';

/** Headers of one connection, and of a body that `fetch` decodes. */
const OF_CONNECTION = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'accept-encoding'];

/** Sends a request of a page to the API. It is no rewrite: an API that is down would be a text with the status 500. */
export async function send(request: NextRequest, target: URL, given = request.headers): Promise<NextResponse> {
  const headers = new Headers(given);
  for (const name of OF_CONNECTION) headers.delete(name);
  const { method, body } = request;
  const init = { method, headers, body, duplex: 'half', redirect: 'manual', cache: 'no-store' } as RequestInit;
  const answer = await fetch(target, init).catch((error: Error) => console.error(error));
  if (!answer) return NextResponse.json({ message: 'Please try again later.' }, { status: 503 });
  const sent = new Headers(answer.headers);
  for (const name of ['content-encoding', ...OF_CONNECTION]) sent.delete(name);
  return new NextResponse(answer.body, { status: answer.status, headers: sent });
}
