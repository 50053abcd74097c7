import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * Sends a request with exactly these header fields, also with one field twice.
 *
 * @param fields names and values, alternating; without a `Host`, it is that of the URL
 */
function answerTo(url: string, fields: readonly string[], method: string): Promise<IncomingMessage> {
  const host = fields.includes('Host') ? [] : ['Host', new URL(url).host];
  const length = method === 'GET' ? [] : ['Content-Length', '0'];
  return new Promise((resolve, reject) => {
    request(url, { method, headers: [...host, ...length, ...fields] as never }, resolve)
      .on('error', reject)
      .end();
  });
}

/** The status of a request with exactly these header fields. */
export async function requestWith(url: string, fields: readonly string[], method = 'GET'): Promise<number> {
  const answer = await answerTo(url, fields, method);
  await text(answer);
  return answer.statusCode!;
}

/** The body of the answer to a GET request with exactly these header fields. */
export const textWith = async (url: string, fields: readonly string[]): Promise<string> =>
  text(await answerTo(url, fields, 'GET'));
