import { cookies, headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { API, PAGE, accessTokenIn } from './session';

/** Reads from the API as the user for whom the page is rendered. */
export async function read<T>(path: string): Promise<T> {
  const token = accessTokenIn(await cookies());
  const authorization = { Authorization: `Bearer ${token}` };
  const answer = token && (await fetch(API + path, { headers: authorization, cache: 'no-store' }));
  // For example a session that was ended elsewhere.
  if (!answer || answer.status === 401) {
    const next = (await headers()).get(PAGE) ?? '';
    redirect(`/login?${new URLSearchParams({ next, ended: '1' })}`);
  }
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}
