import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { API, accessTokenIn } from './session';

/** Reads from the API as the user for whom the page is rendered. */
export async function read<T>(path: string): Promise<T> {
  const token = accessTokenIn(await cookies());
  const headers = { Authorization: `Bearer ${token}` };
  const answer = token && (await fetch(API + path, { headers, cache: 'no-store' }));
  // For example a session that was ended elsewhere.
  if (!answer || answer.status === 401) redirect('/login?ended=1');
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}
