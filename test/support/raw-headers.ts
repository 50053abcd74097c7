import { request } from 'node:http';
import type { TestApp } from './app';

/**
 * Sends a request with exactly these header fields, also with one field twice.
 *
 * @param fields names and values, alternating
 * @returns the status
 */
export async function requestWith(t: TestApp, path: string, fields: readonly string[], method = 'POST'): Promise<number> {
  const url = new URL(path, await t.app.getUrl());
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: ['Host', url.host, ...fields] as never }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject).end();
  });
}
