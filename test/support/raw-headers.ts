import { request } from 'node:http';

/**
 * Sends a request with exactly these header fields, also with one field twice.
 *
 * @param fields names and values, alternating; without a `Host`, it is that of the URL
 * @returns the status
 */
export async function requestWith(url: string, fields: readonly string[], method = 'GET'): Promise<number> {
  const host = fields.includes('Host') ? [] : ['Host', new URL(url).host];
  const length = method === 'GET' ? [] : ['Content-Length', '0'];
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: [...host, ...length, ...fields] as never }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject).end();
  });
}
